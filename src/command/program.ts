import { Option } from 'commander';
import { version } from '../version.js';
import { workerCommand } from '../workers/worker-command.js';
import { completion } from './completion/completion.js';
import { can } from './decide/can.js';
import { check } from './decide/check.js';
import { impact } from './decide/impact.js';
import { who } from './decide/who.js';
import { Declaration } from './declaration.js';
import { inspect } from './inspect.js';
import { assign, unassign } from './manage/assign.js';
import { applyDraft } from './manage/draft.js';
import { environments } from './manage/environments.js';
import { listKeys, revokeKey, rotateKey } from './manage/keys.js';
import { roles } from './manage/roles.js';
import { exportEnvironment, importEnvironment } from './manage/transfer.js';
import { migrateCheck } from './migrate/migrate-command.js';
import { logs } from './observe/logs.js';
import { status } from './observe/status.js';
import { diffPolicies, writePolicy } from './policy-commands.js';
import { createKey, openConsole, renewLineage, running } from './server-commands.js';
import type { Variables } from './session.js';
import { testPolicy } from './test-policy.js';

const waitHelp = 'go on asking when the key in PDP_API_KEY is refused';

/** Declares the whole command line. The commands read their settings from `variables`. */
export function createProgram(variables: Variables): Declaration {
	const program = new Declaration('regolith', variables)
		.description('Authorization on your own machine: a management API, a compiler to Rego, a decision point.')
		.version(version)
		.addHelpText('after', '\nSettings come from the environment; .env.example documents each.');
	declareServers(program, variables);
	declareDecisions(program);
	declareManagement(program, variables);
	declareObservation(program, variables);
	declarePolicies(program);
	declareMigration(program);
	program
		.command('completion')
		.description('print what makes a shell complete commands and options')
		.addArgument(program.createArgument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
		.exits({ 0: 'done' })
		.action((shell: string) => completion(program, shell));
	return program;
}

function declareServers(program: Declaration, variables: Variables): void {
	const exits = { 0: 'stopped by a signal', 1: 'could not start, or broke down', 2: 'called wrongly' };
	const decisionPointExits = { ...exits, 3: 'the key in PDP_API_KEY is refused' };
	program
		.command('start')
		.description('run the API and a decision point in one process')
		.option('--wait', waitHelp)
		.exits(decisionPointExits)
		.action(running(variables, 'start'));
	program
		.command('serve')
		.description('run the API and the publisher')
		.exits(exits)
		.action(running(variables, 'serve'));
	program
		.command('pdp')
		.description('run a decision point alone, against PDP_CONTROL_PLANE with PDP_API_KEY')
		.option('--wait', waitHelp)
		.exits(decisionPointExits)
		.action(running(variables, 'pdp'));
	program
		.command('console')
		.description('print a link that signs a browser in to the console, once, within ten minutes')
		.option('-p, --project <key>', 'the project (default: the environment `dev` of the project `default`)')
		.option('-e, --environment <key>', 'the environment of that project (default: its oldest)')
		.asks(openConsole(variables));
	program.command(workerCommand, { hidden: true }).action(running(variables, 'decisionWorker'));
}

function declareDecisions(program: Declaration): void {
	program
		.command('check')
		.description('ask whether a user may do an action on a resource')
		.argument('<user>', 'the key of the user')
		.argument('<action>', 'the key of the action')
		.argument('<resource>', 'type, or type:key for one instance')
		.takes('tenant')
		.option('--explain', 'say why, and what would allow it')
		.option('-c, --context <json>', 'attributes of the request, a JSON object')
		.option('--min-revision <number>', 'wait until the decision point answers from this revision')
		.takes('pdp')
		.exits({ 0: 'allowed', 1: 'denied' })
		.asks(check);
	program
		.command('who')
		.description('ask who may do an action on a resource, and by which roles')
		.argument('<action>', 'the key of the action')
		.argument('<resource>', 'type, or type:key for one instance')
		.takes('tenant', 'pdp')
		.asks(who);
	program
		.command('can')
		.description('ask what a user may do, in tenants and on instances')
		.argument('<user>', 'the key of the user')
		.takes('tenant')
		.option('--resource <resource>', 'only this: type, or type:key for one instance')
		.takes('pdp')
		.asks(can);
	program
		.command('impact')
		.description('tell who gains and who loses by a draft, which is not applied')
		.argument('<file>', 'the draft; - for standard input')
		.option('--fail-on-loss', 'end with 1 if somebody loses something')
		.option('--rows <number>', 'how many rows to list, of gains and of losses each, up to 1000', '200')
		.option('--checks <number>', 'how many checks to ask, up to 1000000 (default: 200000)')
		.takes('project', 'environment', 'api')
		.exits({
			0: 'done; with --fail-on-loss, that nobody loses anything',
			1: 'with --fail-on-loss: somebody loses something',
			3: 'with --fail-on-loss: nobody is known to lose anything, and not all was looked at',
		})
		.asks(impact);
}

function declareManagement(program: Declaration, variables: Variables): void {
	program
		.command('roles')
		.description('list the roles that are assigned to a user; without a user, the roles that there are')
		.argument('[user]', 'the key of the user')
		.takes('tenant', 'project', 'environment', 'api')
		.asks(roles);
	program
		.command('assign')
		.description('give a user a role, in a tenant or on an instance')
		.argument('<user>', 'the key of the user')
		.argument('<role>', 'the key of the role')
		.takes('tenant')
		.option('--on <instance>', 'the instance, type:key')
		.option('--until <time>', 'when the role ends, such as 2027-01-31T08:00:00Z (default: never)')
		.takes('project', 'environment', 'api')
		.asks(assign);
	program
		.command('unassign')
		.description('take a role from a user')
		.argument('<user>', 'the key of the user')
		.argument('<role>', 'the key of the role')
		.takes('tenant')
		.option('--on <instance>', 'the instance, type:key')
		.takes('project', 'environment', 'api')
		.asks(unassign);
	program
		.command('export')
		.description('print an environment as a document, or write it to a file')
		.option('-o, --output <file>', 'the file to write')
		.takes('project', 'environment', 'api')
		.asks(exportEnvironment);
	program
		.command('import')
		.description('import a document into an environment')
		.argument('<file>', 'the document; - for standard input')
		.option('--dry-run', 'change nothing, and say what would change')
		.addOption(
			new Option('--conflict-strategy <strategy>', 'what happens to objects that exist with other content')
				.choices(['fail', 'overwrite', 'replace'])
				.default('fail'),
		)
		.takes('project', 'environment', 'api')
		.exits({ 0: 'done; of a dry run, that nothing would change', 1: 'a dry run: something would change' })
		.asks(importEnvironment);
	program
		.command('apply')
		.description('make all changes of a draft, or none')
		.argument('<file>', 'the draft; - for standard input')
		.option('--dry-run', 'change nothing, and say what would change')
		.takes('project', 'environment', 'api')
		.exits({ 0: 'done; of a dry run, that nothing would change', 1: 'a dry run: something would change' })
		.asks(applyDraft);
	program
		.command('envs')
		.description('list the environments that the API key opens')
		.takes('project', 'api')
		.asks(environments);
	const keys = program.command('keys').description('API keys');
	keys
		.command('list')
		.description('list API keys, without their secrets')
		.takes('project', 'environment', 'api')
		.asks(listKeys);
	keys
		.command('create')
		.description('make an API key and print its secret; works on the data itself, and needs no key')
		.option('-p, --project <key>', 'the project it opens (default: the whole organization)')
		.option('-e, --environment <key>', 'the environment of that project it opens')
		.addOption(
			new Option('-a, --access <level>', 'what it may do').choices(['admin', 'write', 'read']).default('admin'),
		)
		.option('-n, --name <name>', 'a name to know it by')
		.asks(createKey(variables));
	keys
		.command('rotate')
		.description('give an API key a new secret and print it; the old one is refused from then on')
		.argument('<id>', 'the id of the key')
		.takes('api')
		.asks(rotateKey);
	keys
		.command('revoke')
		.description('delete an API key, which is refused from then on')
		.argument('<id>', 'the id of the key')
		.takes('api')
		.asks(revokeKey);
}

function declareObservation(program: Declaration, variables: Variables): void {
	program
		.command('status')
		.description('tell how the API, the policy and the decision point are')
		.takes('project', 'environment', 'api', 'pdp')
		.exits({ 0: 'all is well', 1: 'something is not' })
		.asks(status);
	program
		.command('lineage')
		.description('the lineage of the database')
		.command('renew')
		.description('begin a new lineage after a restore; works on the data itself, and needs no key')
		.option('--reason <text>', 'why, for people who look into it later', 'by hand')
		.asks(renewLineage(variables));
	program
		.command('logs')
		.description('list logged decisions, the oldest first')
		.takes('tenant')
		.option('--user <key>', 'only decisions about this user')
		.option('--action <key>', 'only decisions about this action')
		.option('--resource <type>', 'only decisions about resources of this type')
		.option('--allowed', 'only what was allowed')
		.option('--denied', 'only what was denied')
		.option('--code <code>', 'only decisions with this code, such as no_permission')
		.option('--since <time>', 'only what is newer: 2026-01-31T08:00:00Z, or how long ago: 90s, 15m, 2h, 1d')
		.option('--until <time>', 'only what is older, written in the same way')
		.option('--search <text>', 'only what has this text in a key')
		.option('--limit <number>', 'how many, of the newest, up to 10000', '30')
		.option('-f, --follow', 'go on with those to come')
		.takes('project', 'environment', 'api')
		.asks(logs);
}

function declarePolicies(program: Declaration): void {
	program
		.command('inspect')
		.description('show the Rego of an environment')
		.option('-o, --output <folder>', 'write the files there, for opa to read')
		.takes('project', 'environment', 'api')
		.asks(inspect);
	program
		.command('policy')
		.description('write the policy of an environment, its tables and its tests, for `opa test`')
		.argument('[environment]', 'the environment, as with --environment')
		.option('-o, --output <folder>', 'where to; the folder `regolith` in it is replaced')
		.addOption(new Option('--out <folder>').hideHelp())
		.option('-r, --revision <number>', 'as it was at this revision (default: the newest)')
		.option('--facts', 'write the facts of now, too: users, tenants, what they hold')
		.takes('project', 'environment', 'api')
		.asks(writePolicy);
	program
		.command('diff')
		.description('show what changed in the policy and its tables')
		.argument('<from>', 'a revision')
		.argument('[to]', 'a later one (default: the newest)')
		.takes('project', 'environment', 'api')
		.exits({ 0: 'nothing changed', 1: 'something changed' })
		.asks(diffPolicies);
	program
		.command('test')
		.description('test the policy of an environment with opa: by its generated tests, and by your own')
		.argument('[folder]', 'a folder of your tests')
		.option('--run <pattern>', 'only tests whose names match this regular expression')
		.option('--facts', 'test with the facts of now')
		.takes('project', 'environment', 'api')
		.exits({ 0: 'all tests pass', 1: 'a test fails' })
		.asks(testPolicy);
}

function declareMigration(program: Declaration): void {
	program
		.command('migrate')
		.description('moving from version 1 of the API')
		.command('check')
		.description('tell what is left to do')
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
		.takes('api')
		.exits({ 0: 'nothing is left to do', 1: 'something is' })
		.asks(migrateCheck);
}

function appendValue(value: string, before: readonly string[]): readonly string[] {
	return [...before, value];
}

function appendNames(value: string, before: readonly string[]): readonly string[] {
	const names = value.split(',').map((name) => name.trim());
	return [...before, ...names.filter((name) => name !== '')];
}
