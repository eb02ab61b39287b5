import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './root.js';

/** A fenced block of a page. */
export interface Block {
	readonly language: string;
	readonly text: string;
	/** The line before the block. */
	readonly before: string;
	/** The reason in a comment `<!-- not run: … -->` before the block. */
	readonly notRun: string | null;
}

/** Returns the fenced blocks of a page in their order. */
export function fencedBlocks(markdown: string): readonly Block[] {
	return [...markdown.matchAll(/(?<=^([^\n]*)\n\n?)```(\w*)\n(.*?)^```$/gms)].map(
		([, before = '', language = '', text = '']) => ({
			language,
			text,
			before,
			notRun: /^<!-- not run: (.+) -->$/.exec(before)?.[1] ?? null,
		}),
	);
}

/** The pages that one reader follows from the first start on, in this order (`test/journey/first-hour.test.ts`). */
export const firstHourPages = [
	'README.md',
	'docs/getting-started.md',
	'docs/authzen.md',
	'docs/decision-log.md',
	'docs/decision-point.md',
	'docs/gateways.md',
	'docs/opa.md',
	'docs/documents.md',
	'packages/engine/README.md',
] as const;

/** What a page promises to be printed: `…` stands for anything on its line, and a line of it alone for any lines. */
export function printedAs(text: string): RegExp {
	const escaped = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
	return new RegExp(`^${escaped.replaceAll(/^…$\n/gm, '(?:.*\\n)*').replaceAll('…', '.*')}$`);
}

/** What a reader types into one terminal, in a folder that looks like a clone of the project that was set up. */
export class Terminal {
	readonly #state: string;

	constructor(
		readonly folder: string,
		private readonly env: Readonly<Record<string, string>>,
		/** What stands in the page for what is elsewhere here. */
		private readonly replaced: Readonly<Record<string, string>>,
	) {
		this.#state = join(folder, '.terminal');
		writeFileSync(this.#state, '');
		mkdirSync(join(folder, 'bundles'), { recursive: true });
		for (const name of ['dist', 'node_modules']) {
			if (!existsSync(join(folder, name))) symlinkSync(join(root, name), join(folder, name));
		}
	}

	/** The text of a page as it is right here. */
	here(text: string): string {
		return Object.entries(this.replaced).reduce((changed, [old, now]) => changed.replaceAll(old, now), text);
	}

	/** Runs commands of the page. Variables and functions stay, as in a terminal. Returns what they print. */
	async run(commands: string): Promise<string> {
		const script = `. ${this.#state}\n${this.here(commands)}\n{ export -p; declare -f; } > ${this.#state}\n`;
		const { stdout } = await promisify(execFile)('bash', ['-ec', script], this.#surroundings);
		return stdout;
	}

	/** Begins a command of the page that does not end by itself. Returns how to end it. */
	begin(command: string): () => void {
		const script = `. ${this.#state}\nexec ${this.here(command)}`;
		const child = spawn('bash', ['-ec', script], { ...this.#surroundings, stdio: 'ignore' });
		return () => child.kill('SIGKILL');
	}

	/** The value of a variable. */
	async variable(name: string): Promise<string> {
		return (await this.run(`printf %s "$${name}"`)).trim();
	}

	/** Saves a file as the page says. */
	save(name: string, text: string): void {
		writeFileSync(join(this.folder, name), this.here(text));
	}

	/** A file that was written. */
	read(name: string): string {
		return readFileSync(join(this.folder, name), 'utf8');
	}

	get #surroundings() {
		return { cwd: this.folder, env: { PATH: process.env['PATH'] ?? '', HOME: this.folder, ...this.env } };
	}
}
