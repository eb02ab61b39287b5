import { Command, Option } from 'commander';
import { fail, print } from './console.js';
import { Session, type SharedOptions, type Variables } from './session.js';
import { jsonText, visibleLines } from './terminal.js';

/** What a command prints, for people or as JSON, and the exit code it asks for. */
export interface Told {
	readonly text: string;
	/** Absent where the text is JSON itself. */
	readonly json?: unknown;
	/** Whether `text` is a document to save or pass on: only a terminal gets it with escapes. */
	readonly document?: true;
	/** 1 where the answer is no, 3 where it is not known; 0 without it. */
	readonly exit?: 0 | 1 | 3;
}

/** How a command that asks servers is run: with its session, its options, and its arguments in their order. */
export type Run<O, A extends readonly unknown[]> = (session: Session, options: O, ...words: A) => Promise<Told>;

const shared = {
	project: () => new Option('-p, --project <key>', 'the project (default: what the API key opens)'),
	environment: () => new Option('-e, --environment <key>', 'the environment (default: what the API key opens)'),
	tenant: () => new Option('-t, --tenant <key>', 'the tenant'),
	api: () => new Option('--api <url>', 'the API to ask (default: PERMIT_API_URL, or this machine)'),
	pdp: () => new Option('--pdp <url>', 'the decision point to ask (default: PERMIT_PDP_URL, or this machine)'),
	json: () => new Option('--json', 'print JSON'),
} as const satisfies Record<keyof SharedOptions, () => Option>;

/** The exit code of a command that failed or was called wrongly. */
const failed = 2;

/** A command as it is declared: what help, completion and the documentation are made of. */
export class Declaration extends Command {
	#exitCodes: ReadonlyMap<number, string> = new Map();

	constructor(
		name: string,
		/** The environment variables that commands read. */
		private readonly variables: Variables,
	) {
		super(name);
		this.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : failed));
	}

	override createCommand(name?: string): Declaration {
		return new Declaration(name ?? '', this.variables);
	}

	/** What each exit code means; 2 is declared for all. */
	get exitCodes(): ReadonlyMap<number, string> {
		return this.#exitCodes;
	}

	/** Declares options that other commands have as well. */
	takes(...names: readonly (keyof SharedOptions)[]): this {
		for (const name of names) this.addOption(shared[name]());
		return this;
	}

	/** Declares what the exit codes mean; 2, unless it is said, is a failure. */
	exits(meanings: Readonly<Record<number, string>>): this {
		this.#exitCodes = new Map(
			Object.entries({ 2: 'failed, or called wrongly', ...meanings }).map(([code, meaning]) => [Number(code), meaning]),
		);
		const lines = [...this.#exitCodes].sort(([a], [b]) => a - b).map(([code, meaning]) => `  ${code}  ${meaning}`);
		return this.addHelpText('after', `\nExit codes:\n${lines.join('\n')}`);
	}

	/** Declares how the command asks servers. It takes `--json`. */
	asks<O, A extends readonly unknown[]>(run: Run<O, A>): this {
		this.takes('json');
		if (this.#exitCodes.size === 0) this.exits({ 0: 'done' });
		// Commander passes the arguments, the options and the command; the declaration says which there are.
		return this.action(async (...given: unknown[]) => {
			const options = given.at(-2) as O & SharedOptions;
			const words = given.slice(0, -2) as unknown as A;
			process.stdout.on('error', leave);
			try {
				tell(await run(new Session(this.variables, options), options, ...words), options);
			} catch (error) {
				fail(error, failed);
			}
		});
	}
}

/** Ends the command when its reader, such as `head`, has closed the pipe. */
function leave(error: NodeJS.ErrnoException): never {
	if (error.code === 'EPIPE') process.exit();
	throw error;
}

/** Prints what a command tells. */
export function tell({ text, json, document, exit = 0 }: Told, options: SharedOptions): void {
	if (options.json && json !== undefined) print(jsonText(json));
	else print(document && !process.stdout.isTTY ? text : visibleLines(text));
	process.exitCode = exit;
}
