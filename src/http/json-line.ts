import { errorMessage } from '../failure.js';
import { IllFormedError, JsonLimitError } from './json-builder.js';
import { maxDepth, parseSmallText, smallBytes } from './small-json.js';
import type { Step } from './well-formed.js';

/** Media type of a body with a JSON value in each line. */
export const jsonLinesType = 'application/x-ndjson';

/** Problem with a line, at a path in its value. */
export interface LineProblem {
	readonly path: readonly Step[];
	readonly msg: string;
	readonly type: string;
}

/**
 * A line of a request body. The handler parses the lines one by one, and may keep their texts instead of the values.
 */
export class JsonLine {
	constructor(readonly text: string) {}

	/** Parses the line, which must be short. */
	parse(): { readonly value: unknown } | { readonly problem: LineProblem } {
		if (this.text.length > smallBytes) return wrongLine(`must have at most ${smallBytes} characters`);
		try {
			return { value: parseSmallText(this.text) };
		} catch (error) {
			if (error instanceof JsonLimitError) return wrongLine(`must not nest deeper than ${maxDepth} levels`);
			if (!(error instanceof IllFormedError)) return wrongLine(`must be JSON: ${errorMessage(error)}`);
			return { problem: { path: error.path, msg: 'must not contain lone surrogates', type: 'ill_formed' } };
		}
	}
}

function wrongLine(msg: string) {
	return { problem: { path: [], msg, type: 'value_error' } };
}

/** Divides a text into lines. Blank lines are skipped. */
export class LineReader {
	readonly #lines: JsonLine[] = [];
	#rest = '';

	constructor(private readonly maxLines: number) {}

	/** Adds the next part of the text. Throws `JsonLimitError` for too many lines. */
	add(part: string): void {
		const lines = (this.#rest + part).split('\n');
		this.#rest = lines.pop() ?? '';
		for (const line of lines) this.#push(line);
	}

	finish(): readonly JsonLine[] {
		this.#push(this.#rest);
		return this.#lines;
	}

	#push(line: string): void {
		if (line === '' || line.trim() === '') return;
		if (this.#lines.length === this.maxLines) throw new JsonLimitError('values');
		this.#lines.push(new JsonLine(line));
	}
}
