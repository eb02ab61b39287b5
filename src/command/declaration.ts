import { Command, Option } from 'commander';
import { fail, print } from './console.js';
import { Session, type SharedOptions, type Variables } from './session.js';
import { jsonText, visibleLines } from './terminal.js';

/** Command output: human-readable text, JSON, and an exit code. */
export interface Told {
	readonly text: string;
	/** Absent if `text` is already JSON. */
	readonly json?: unknown;
	/** True for output meant to be saved or piped. Control characters are escaped only on a terminal. */
	readonly document?: true;
	/** 1 if the result is negative, and 3 if the result is unknown. The default is 0. */
	readonly exit?: 0 | 1 | 3;
}

/** Runs a command with its session, its options, and its arguments in order. */
export type Run<O, A extends readonly unknown[]> = (session: Session, options: O, ...words: A) => Promise<Told>;

const shared = {
	project: () => new Option('-p, --project <key>', 'project key or ID (default: from the API key)'),
	environment: () => new Option('-e, --environment <key>', 'environment key or ID (default: from the API key)'),
	tenant: () => new Option('-t, --tenant <key>', 'tenant key'),
	api: () => new Option('--api <url>', 'API URL (default: PERMIT_API_URL, or this machine)'),
	pdp: () => new Option('--pdp <url>', 'decision point URL (default: PERMIT_PDP_URL, or this machine)'),
	json: () => new Option('--json', 'print the result as JSON'),
} as const satisfies Record<keyof SharedOptions, () => Option>;

/** Exit code for failed and incorrectly called commands. */
const failed = 2;

/** Command declaration. Help, completion and documentation are built from it. */
export class Declaration extends Command {
	#exitCodes: ReadonlyMap<number, string> = new Map();

	constructor(
		name: string,
		/** Environment variables for the commands. */
		private readonly variables: Variables,
	) {
		super(name);
		this.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : failed));
	}

	override createCommand(name?: string): Declaration {
		return new Declaration(name ?? '', this.variables);
	}

	/** Exit codes with their meanings. Code 2 is declared for all commands. */
	get exitCodes(): ReadonlyMap<number, string> {
		return this.#exitCodes;
	}

	/** Adds options shared by several commands. */
	takes(...names: readonly (keyof SharedOptions)[]): this {
		for (const name of names) this.addOption(shared[name]());
		return this;
	}

	/** Declares the exit code meanings. Code 2 means a failure unless `meanings` overrides it. */
	exits(meanings: Readonly<Record<number, string>>): this {
		this.#exitCodes = new Map(
			Object.entries({ 2: 'error, or invalid arguments', ...meanings }).map(([code, meaning]) => [
				Number(code),
				meaning,
			]),
		);
		const lines = [...this.#exitCodes].sort(([a], [b]) => a - b).map(([code, meaning]) => `  ${code}  ${meaning}`);
		return this.addHelpText('after', `\nExit codes:\n${lines.join('\n')}`);
	}

	/** Declares the command's function, and adds `--json`. */
	asks<O, A extends readonly unknown[]>(run: Run<O, A>): this {
		this.takes('json');
		if (this.#exitCodes.size === 0) this.exits({ 0: 'done' });
		// Commander passes the arguments, the options and the command. The command's declaration defines their types.
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

/** Stops the command if the reader of its output, such as `head`, has closed the pipe. */
function leave(error: NodeJS.ErrnoException): never {
	if (error.code === 'EPIPE') process.exit();
	throw error;
}

/** Prints a command's output and sets the exit code. */
export function tell({ text, json, document, exit = 0 }: Told, options: SharedOptions): void {
	if (options.json && json !== undefined) print(jsonText(json));
	else print(document && !process.stdout.isTTY ? text : visibleLines(text));
	process.exitCode = exit;
}
