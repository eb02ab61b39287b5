import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './root.js';

/** A fenced block on a page. */
export interface Block {
	readonly language: string;
	readonly text: string;
	/** Line before the block. */
	readonly before: string;
	/** Reason in a comment `<!-- not run: … -->` before the block. */
	readonly notRun: string | null;
}

/** Returns the fenced blocks on a page, in order. */
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

/** Pages for a new reader after the first start, in this order (`test/journey/first-hour.test.ts`). */
export const firstHourPages = [
	'README.md',
	'docs/develop/getting-started.md',
	'docs/develop/authzen.md',
	'docs/operate/decision-log.md',
	'docs/contribute/decision-point.md',
	'docs/operate/gateways.md',
	'docs/policy/opa.md',
	'docs/policy/documents.md',
	'packages/engine/README.md',
] as const;

/**
 * Matches the output printed on a page. `…` matches any text within its line. A line that contains only `…` matches any
 * number of lines.
 */
export function printedAs(text: string): RegExp {
	const escaped = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
	return new RegExp(`^${escaped.replaceAll(/^…$\n/gm, '(?:.*\\n)*').replaceAll('…', '.*')}$`);
}

/** A reader's terminal, in a folder that looks like a fresh clone after setup. */
export class Terminal {
	readonly #state: string;

	constructor(
		readonly folder: string,
		private readonly env: Readonly<Record<string, string>>,
		/** Replacements for texts on the pages, keyed by text. */
		private readonly replaced: Readonly<Record<string, string>>,
		/** Repository folders to link into `folder`. */
		linked: readonly string[] = ['dist', 'node_modules'],
	) {
		this.#state = join(folder, '.terminal');
		writeFileSync(this.#state, '');
		mkdirSync(join(folder, 'bundles'), { recursive: true });
		for (const name of linked) {
			if (!existsSync(join(folder, name))) symlinkSync(join(root, name), join(folder, name));
		}
	}

	/** Returns a text from a page with the replacements for this test. */
	here(text: string): string {
		return Object.entries(this.replaced).reduce((changed, [old, now]) => changed.replaceAll(old, now), text);
	}

	/** Runs commands from a page, and returns their output. Keeps variables and functions, like a terminal. */
	async run(commands: string): Promise<string> {
		const script = `. ${this.#state}\n${this.here(commands)}\n{ export -p; declare -f; } > ${this.#state}\n`;
		const { stdout } = await promisify(execFile)('bash', ['-ec', script], this.#surroundings);
		return stdout;
	}

	/**
	 * Runs a block of commands. If the block contains the comment `# In another terminal:`, the last command before the
	 * comment starts a server, and the commands after the comment run when `ready` resolves. Returns their output, and a
	 * function that stops the server.
	 */
	async runBlock(text: string, ready: () => Promise<unknown>): Promise<{ printed: string; stop: () => void }> {
		const [setUp = '', commands] = text.split(/(?<=\n)# In another terminal:.*\n/);
		if (commands === undefined) return { printed: await this.run(text), stop: () => undefined };
		const [prepare = '', server = ''] = setUp.trim().split(/\n\n(?=[^\n]+$)/);
		await this.run(prepare);
		const stop = this.begin(server);
		await ready();
		return { printed: await this.run(commands), stop };
	}

	/** Starts a command that runs until it is stopped. Returns a function that stops the command. */
	begin(command: string): () => void {
		const script = `. ${this.#state}\nexec ${this.here(command)}`;
		const child = spawn('bash', ['-ec', script], { ...this.#surroundings, stdio: 'ignore' });
		return () => child.kill('SIGKILL');
	}

	/** Returns a variable's value. */
	async variable(name: string): Promise<string> {
		return (await this.run(`printf %s "$${name}"`)).trim();
	}

	/** Saves a file, as the page instructs the reader. */
	save(name: string, text: string): void {
		const path = join(this.folder, name);
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, this.here(text));
	}

	/** Reads a file from the folder. */
	read(name: string): string {
		return readFileSync(join(this.folder, name), 'utf8');
	}

	get #surroundings() {
		return { cwd: this.folder, env: { PATH: process.env['PATH'] ?? '', HOME: this.folder, ...this.env } };
	}
}
