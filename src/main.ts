#!/usr/bin/env node
import { Command, Option } from 'commander';
import type { KeyRequest } from './bootstrap.js';
import { apiUrl, policyPlace } from './command/api-address.js';
import { fail, print } from './command/console.js';
import { inspect } from './command/inspect.js';
import { checkMigration } from './command/migrate/migrate-check.js';
import { diffPolicies, type PolicyRequest, writePolicy } from './command/policy-commands.js';
import { writeBelow } from './command/policy-folder.js';
import { decisionWorker, newKey, pdp, serve, start } from './command/run.js';
import { workerCommand } from './compose-workers.js';
import { type Config, ConfigError, readConfig } from './config.js';
import { version } from './version.js';

/** The command line: one process does one command. */

/** The action of a command: calls `run` with the settings. A failure is printed, and ends the process with `code`. */
function withConfig<A extends readonly unknown[]>(run: (config: Config, ...given: A) => Promise<void>, code = 1) {
	return async (...given: A): Promise<void> => {
		try {
			await run(readConfig(process.env), ...given);
		} catch (error) {
			fail(error, code);
		}
	};
}

interface KeyOptions {
	readonly project?: string;
	readonly environment?: string;
	readonly access: KeyRequest['access_level'];
	readonly name?: string;
}

interface MigrateCheckOptions {
	readonly api?: string;
	readonly mine: readonly string[];
	readonly code: readonly string[];
	readonly pdp: readonly string[];
}

interface PolicyOptions extends PolicyRequest {
	readonly project: string;
	readonly api?: string;
}

interface DiffOptions {
	readonly project: string;
	readonly environment: string;
	readonly api?: string;
}

interface InspectOptions {
	readonly project: string;
	readonly environment: string;
	readonly output?: string;
	readonly api?: string;
}

const program = new Command('regolith')
	.description('Authorization on your own machine: a management API, a compiler to Rego, a decision point.')
	.version(version)
	.addHelpText('after', '\nSettings come from the environment; .env.example documents each.');

program.command('start').description('run the API and a decision point in one process').action(withConfig(start));
program.command('serve').description('run the API and the publisher').action(withConfig(serve));
program
	.command('pdp')
	.description('run a decision point alone, against PDP_CONTROL_PLANE with PDP_API_KEY')
	.action(withConfig(pdp));
program.command(workerCommand, { hidden: true }).action(withConfig(decisionWorker));
program
	.command('keys')
	.description('API keys')
	.command('create')
	.description('make an API key and print its secret; also while the server runs')
	.option('-p, --project <key>', 'the project it opens (default: the whole organization)')
	.option('-e, --environment <key>', 'the environment of that project it opens')
	.addOption(new Option('-a, --access <level>', 'what it may do').choices(['admin', 'write', 'read']).default('admin'))
	.option('-n, --name <name>', 'a name to know it by')
	.action(
		withConfig(async (config, options: KeyOptions) => {
			if (options.environment && !options.project) throw new ConfigError('--environment needs --project');
			await newKey(config, {
				project: options.project ?? null,
				environment: options.environment ?? null,
				access_level: options.access,
				name: options.name ?? null,
			});
		}),
	);
program
	.command('inspect')
	.description('show the Rego of an environment, with the API key in PDP_API_KEY')
	.option('-p, --project <key>', 'the project', 'default')
	.option('-e, --environment <key>', 'the environment', 'dev')
	.option('-o, --output <folder>', 'write the files there, for opa to read')
	.option('--api <url>', 'the API to ask (default: PDP_CONTROL_PLANE, or this machine)')
	.action(
		withConfig(async (config, options: InspectOptions) => {
			const shown = await inspect(apiUrl(config, options), config.pdp_api_key, options.project, options.environment);
			print(shown.summary);
			for (const { path, text } of shown.files) {
				if (options.output === undefined) print(`\n# file: ${path}\n${text}`);
				else writeBelow(options.output, { path, text });
			}
		}),
	);

program
	.command('policy')
	.argument('<environment>', 'the environment')
	.description('write the policy of an environment, its tables and its tests, for `opa test`')
	.requiredOption('-o, --out <folder>', 'where to; the folder `regolith` in it is replaced')
	.option('-p, --project <key>', 'the project', 'default')
	.option('-r, --revision <number>', 'as it was at this revision (default: the newest)')
	.option('--facts', 'write the facts of now, too: users, tenants, what they hold')
	.option('--api <url>', 'the API to ask (default: PDP_CONTROL_PLANE, or this machine)')
	.action(
		withConfig(async (config, environment: string, options: PolicyOptions) => {
			print(await writePolicy(policyPlace(config, { ...options, environment }), options));
		}),
	);

program
	.command('diff')
	.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
	.argument('<from>', 'a revision')
	.argument('[to]', 'a later one (default: the newest)')
	.description(
		'show what changed in the policy and its tables; exit code 0 when nothing did, 1 when something, 2 when it failed',
	)
	.option('-p, --project <key>', 'the project', 'default')
	.option('-e, --environment <key>', 'the environment', 'dev')
	.option('--api <url>', 'the API to ask (default: PDP_CONTROL_PLANE, or this machine)')
	.action(
		withConfig(async (config, from: string, to: string | undefined, options: DiffOptions) => {
			const difference = await diffPolicies(policyPlace(config, options), from, to);
			print(difference);
			process.exitCode = difference === '' ? 0 : 1;
		}, 2),
	);

program
	.command('migrate')
	.description('moving from version 1 of the API')
	.command('check')
	.description('tell what is left to do, with the API key in PDP_API_KEY; exit code 0 when nothing is')
	.option(
		'--mine <names>',
		'what your team created: project or project/environment, with commas between',
		appendNames,
		[],
	)
	.option(
		'--pdp <address>',
		'a decision point in use: project/environment=URL, or a URL; may be repeated',
		appendValue,
		[],
	)
	.option('--code <folder>', 'a folder of code to search for calls of version 1; may be repeated', appendValue, [])
	.option('--api <url>', 'the API to ask (default: PDP_CONTROL_PLANE, or this machine)')
	.action(
		withConfig(async (config, options: MigrateCheckOptions) => {
			const { mine, code, pdp } = options;
			const api = apiUrl(config, options);
			const { report, left } = await checkMigration({ api, api_key: config.pdp_api_key, mine, code, pdp });
			print(report);
			process.exitCode = left.length === 0 ? 0 : 1;
		}),
	);

function appendValue(value: string, before: readonly string[]): readonly string[] {
	return [...before, value];
}

function appendNames(value: string, before: readonly string[]): readonly string[] {
	return [
		...before,
		...value
			.split(',')
			.map((name) => name.trim())
			.filter((name) => name !== ''),
	];
}

await program.parseAsync();
