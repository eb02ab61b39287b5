import { RE2JS } from 're2js';

/** Regular expressions (RE2) used during a request. Each is compiled once. */
export class CompiledPatterns {
	readonly #compiled = new Map<string, RE2JS | null>();

	/** True if the text contains a match. If RE2 rejects the expression, it never matches. */
	readonly matches = (pattern: string, text: string): boolean => {
		let compiled = this.#compiled.get(pattern);
		if (compiled === undefined) {
			compiled = compile(pattern);
			this.#compiled.set(pattern, compiled);
		}
		return compiled?.matcher(text).find() ?? false;
	};
}

function compile(pattern: string): RE2JS | null {
	try {
		return RE2JS.compile(pattern);
	} catch {
		return null;
	}
}

/**
 * Tokens of a regular expression: quoted text, a character class, an escape, a group start or end, `|`, a repetition,
 * and any other character.
 */
const tokens =
	/\\Q(?<quoted>(?:(?!\\E).)*)(?:\\E)?|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\\[pPx]\{[^}]*\}|\\.|\((?:\?(?:P?<\w*>|[a-zA-Z-]*:|[a-zA-Z-]*(?=\))))?|\{(?<fewest>\d+)(?:,(?<most>\d*))?\}\??|[*+?]\??|./gsu;

/**
 * Estimates the size of RE2's program without compiling the expression, because nested repetitions take long to
 * compile. The estimate is up to twice the real size for typical expressions. It is higher if RE2 joins alternatives.
 */
export function estimateSteps(pattern: string): number {
	const outer: number[] = [];
	let steps = 0;
	/** Number of steps in the last item, which a following repetition copies. */
	let last = 0;
	for (const { 0: token, groups } of pattern.matchAll(tokens)) {
		const fewest = groups?.['fewest'];
		if (fewest !== undefined) {
			const copies = Math.max(Number(fewest), Number(groups?.['most'] ?? 0), 1);
			steps += last * (copies - 1) + copies;
			last = last * copies + copies;
		} else if (token.startsWith('(')) {
			outer.push(steps);
			steps = 0;
			last = 0;
		} else if (token === ')') {
			last = steps + 2;
			steps = (outer.pop() ?? 0) + last;
		} else {
			last = groups?.['quoted']?.length ?? 1;
			steps += last;
		}
	}
	return steps;
}
