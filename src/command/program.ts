import { Option } from 'commander';
import { version } from '../version.js';
import { workerCommand } from '../workers/worker-command.js';
import { completion } from './completion/completion.js';
import { can } from './decide/can.js';
import { check } from './decide/check.js';
import { impact } from './decide/impact.js';
import { who } from './decide/who.js';
import { writeTest } from './decide/write-test.js';
import { Declaration } from './declaration.js';
import { inspect } from './inspect.js';
import { assign, unassign } from './manage/assign.js';
import { applyDraft } from './manage/draft.js';
import { environments } from './manage/environments.js';
import { listKeys, revokeKey, rotateKey } from './manage/keys.js';
import { roles } from './manage/roles.js';
import { exportEnvironment, importEnvironment } from './manage/transfer.js';
import { undo } from './manage/undo.js';
import { migrateCheck } from './migrate/migrate-command.js';
import { logs } from './observe/logs.js';
import { status } from './observe/status.js';
import { diffPolicies, writePolicy } from './policy/policy-commands.js';
import { testPolicy } from './policy/test-policy.js';
import { createKey, openConsole, renewLineage, running } from './server-commands.js';
import type { Variables } from './session.js';

const waitHelp = 'keep trying if the key in PDP_API_KEY is rejected';

/** Declares the whole command line. The commands read their settings from `variables`. */
export function createProgram(variables: Variables): Declaration {
	const program = new Declaration('regolith', variables)
		.description('Self-hosted authorization: management API, Rego compiler and decision point.')
		.version(version)
		.addHelpText('after', '\nSettings are environment variables, documented in .env.example.');
	declareServers(program, variables);
	declareDecisions(program);
	declareManagement(program, variables);
	declareObservation(program, variables);
	declarePolicies(program);
	declareMigration(program);
	program
		.command('completion')
		.description('print the shell completion script')
		.addArgument(program.createArgument('<shell>', 'shell to complete in').choices(['bash', 'zsh', 'fish']))
		.exits({ 0: 'done' })
		.action((shell: string) => completion(program, shell));
	return program;
}

function declareServers(program: Declaration, variables: Variables): void {
	const exits = { 0: 'stopped by a signal', 1: 'failed to start, or crashed', 2: 'invalid arguments' };
	const decisionPointExits = { ...exits, 3: 'the key in PDP_API_KEY was rejected' };
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
		.description('run only a decision point, for the API at PDP_CONTROL_PLANE with the key in PDP_API_KEY')
		.option('--wait', waitHelp)
		.exits(decisionPointExits)
		.action(running(variables, 'pdp'));
	program
		.command('console')
		.description('print a single-use console sign-in link that expires after ten minutes')
		.option('-p, --project <key>', 'limit the session to an environment of this project (default: `default`)')
		.option(
			'-e, --environment <key>',
			'limit the session to this environment (default: the oldest environment in the project)',
		)
		.asks(openConsole(variables));
	program.command(workerCommand, { hidden: true }).action(running(variables, 'decisionWorker'));
}

function declareDecisions(program: Declaration): void {
	program
		.command('check')
		.description('check whether a user may perform an action on a resource')
		.argument('<user>', 'user key')
		.argument('<action>', 'action key')
		.argument('<resource>', 'resource type, or type:key for an instance')
		.takes('tenant')
		.option('--explain', 'show the reasons, and how to allow a denied check')
		.option('-c, --context <json>', 'context attributes as a JSON object')
		.option('--min-revision <number>', 'wait until the decision point has this revision')
		.takes('pdp')
		.exits({ 0: 'allowed', 1: 'denied' })
		.asks(check);
	program
		.command('write-test')
		.description('write a check and its decision as a test that `opa test` runs with the policy')
		.argument('<user>', 'user key')
		.argument('<action>', 'action key')
		.argument('<resource>', 'resource type, or type:key for an instance')
		.takes('tenant')
		.option('-c, --context <json>', 'context attributes as a JSON object')
		.option('-r, --revision <number>', 'check at this revision (default: the newest)')
		.option('-o, --output <file>', 'output file, such as ann_test.rego (default: standard output)')
		.takes('project', 'environment', 'api')
		.asks(writeTest);
	program
		.command('who')
		.description('list the users who may perform an action on a resource, with their roles')
		.argument('<action>', 'action key')
		.argument('<resource>', 'resource type, or type:key for an instance')
		.takes('tenant', 'pdp')
		.asks(who);
	program
		.command('can')
		.description('list user permissions')
		.argument('<user>', 'user key')
		.takes('tenant')
		.option('--resource <resource>', 'only this resource: type, or type:key for an instance')
		.takes('pdp')
		.asks(can);
	program
		.command('impact')
		.description('show who would gain and lose access through a draft, without applying it')
		.argument('<file>', 'draft file, or - for standard input')
		.option('--fail-on-loss', 'exit with code 1 if a user would lose access')
		.option('--rows <number>', 'maximum number of rows in each list (gained and lost access), up to 1000', '200')
		.option('--checks <number>', 'maximum number of checks to compare, up to 1000000 (default: 200000)')
		.takes('project', 'environment', 'api')
		.exits({
			0: 'success; with --fail-on-loss, no losses',
			1: 'with --fail-on-loss, losses',
			3: 'with --fail-on-loss, no losses found, but the comparison is incomplete',
		})
		.asks(impact);
}

function declareManagement(program: Declaration, variables: Variables): void {
	program
		.command('roles')
		.description('list the roles assigned to a user or, without a user, all defined roles')
		.argument('[user]', 'user key')
		.takes('tenant', 'project', 'environment', 'api')
		.asks(roles);
	program
		.command('assign')
		.description('assign a role to a user, in a tenant or on an instance')
		.argument('<user>', 'user key')
		.argument('<role>', 'role key')
		.takes('tenant')
		.option('--on <instance>', 'instance, as type:key')
		.option('--until <time>', 'expiry time, such as 2027-01-31T08:00:00Z (default: never)')
		.option('--under <set>', 'condition set of type grant that the role declares')
		.option('--values <json>', 'values for the parameters of the condition set')
		.takes('project', 'environment', 'api')
		.asks(assign);
	program
		.command('unassign')
		.description('remove a role from a user')
		.argument('<user>', 'user key')
		.argument('<role>', 'role key')
		.takes('tenant')
		.option('--on <instance>', 'instance, as type:key')
		.option('--under <set>', 'condition set under which the role is assigned')
		.takes('project', 'environment', 'api')
		.asks(unassign);
	program
		.command('export')
		.description('export an environment as a document')
		.option('-o, --output <file>', 'output file (default: standard output)')
		.takes('project', 'environment', 'api')
		.asks(exportEnvironment);
	program
		.command('import')
		.description('import a document into an environment')
		.argument('<file>', 'document file, or - for standard input')
		.option('--dry-run', 'show the changes without applying them')
		.addOption(
			new Option('--conflict-strategy <strategy>', 'how to handle existing objects that differ')
				.choices(['fail', 'overwrite', 'replace'])
				.default('fail'),
		)
		.takes('project', 'environment', 'api')
		.exits({ 0: 'success; in a dry run, no changes', 1: 'in a dry run, changes' })
		.asks(importEnvironment);
	program
		.command('apply')
		.description('apply all changes in a draft in a single transaction')
		.argument('<file>', 'draft file, or - for standard input')
		.option('--dry-run', 'show the changes without applying them')
		.takes('project', 'environment', 'api')
		.exits({ 0: 'success; in a dry run, no changes', 1: 'in a dry run, changes' })
		.asks(applyDraft);
	program
		.command('undo')
		.description('print the draft that undoes a revision, or apply it')
		.argument('<revision>', 'revision to undo')
		.option('--position <number>', 'undo only the change at this position in the revision')
		.option('--apply', 'apply the draft')
		.takes('project', 'environment', 'api')
		.exits({ 0: 'success', 1: 'some changes cannot be undone' })
		.asks(undo);
	program
		.command('envs')
		.description('list the environments that the API key can access')
		.takes('project', 'api')
		.asks(environments);
	const keys = program.command('keys').description('manage API keys');
	keys
		.command('list')
		.description('list API keys without their secrets')
		.takes('project', 'environment', 'api')
		.asks(listKeys);
	keys
		.command('create')
		.description('create an API key and print its secret; works directly on the database and needs no key')
		.option('-p, --project <key>', 'limit the key to this project (default: the whole organization)')
		.option('-e, --environment <key>', 'limit the key to this environment in the project')
		.addOption(new Option('-a, --access <level>', 'access level').choices(['admin', 'write', 'read']).default('admin'))
		.option('-n, --name <name>', 'key name')
		.asks(createKey(variables));
	keys
		.command('rotate')
		.description('rotate an API key and print the new secret; the old secret stops working')
		.argument('<id>', 'API key ID')
		.takes('api')
		.asks(rotateKey);
	keys.command('revoke').description('revoke an API key').argument('<id>', 'API key ID').takes('api').asks(revokeKey);
}

function declareObservation(program: Declaration, variables: Variables): void {
	program
		.command('status')
		.description('show the status of API, policy and decision point')
		.takes('project', 'environment', 'api', 'pdp')
		.exits({ 0: 'healthy', 1: 'there are problems' })
		.asks(status);
	program
		.command('lineage')
		.description('manage the database lineage')
		.command('renew')
		.description('start a new lineage after a restore; works directly on the database and needs no key')
		.option('--reason <text>', 'reason to record', 'by hand')
		.asks(renewLineage(variables));
	program
		.command('logs')
		.description('list logged decisions, oldest first')
		.takes('tenant')
		.option('--user <key>', 'filter by user')
		.option('--action <key>', 'filter by action')
		.option('--resource <type>', 'filter by resource type')
		.option('--allowed', 'only allowed checks')
		.option('--denied', 'only denied checks')
		.option('--code <code>', 'filter by code, such as no_permission')
		.option('--since <time>', 'start time, such as 2026-01-31T08:00:00Z, or age, such as 90s, 15m, 2h or 1d')
		.option('--until <time>', 'end time, in the same format')
		.option('--search <text>', 'search keys for this text')
		.option('--limit <number>', 'maximum number of decisions, up to 10000', '30')
		.option('-f, --follow', 'keep printing new decisions')
		.takes('project', 'environment', 'api')
		.asks(logs);
}

function declarePolicies(program: Declaration): void {
	program
		.command('inspect')
		.description('show the Rego for an environment')
		.option('-o, --output <folder>', 'write the Rego files to this folder')
		.takes('project', 'environment', 'api')
		.asks(inspect);
	program
		.command('policy')
		.description('write a policy with its tables and generated tests, for `opa test`')
		.argument('[environment]', 'environment, same as --environment')
		.option('-o, --output <folder>', 'output folder; its subfolder `regolith` is replaced')
		.addOption(new Option('--out <folder>').hideHelp())
		.addOption(new Option('--archive <file>', 'write a tar file instead of a folder').conflicts(['output', 'out']))
		.option('-r, --revision <number>', 'policy at this revision (default: the newest)')
		.option('--facts', 'include the current facts: users, tenants, role assignments and relationships')
		.takes('project', 'environment', 'api')
		.asks(writePolicy);
	program
		.command('diff')
		.description('show the differences between two policies')
		.argument('<from>', 'older revision')
		.argument('[to]', 'newer revision (default: the newest)')
		.takes('project', 'environment', 'api')
		.exits({ 0: 'no differences', 1: 'differences' })
		.asks(diffPolicies);
	program
		.command('test')
		.description('run generated tests, your Rego tests and check tests for an environment')
		.argument('[folder]', 'folder with your Rego tests')
		.option('--run <pattern>', 'run only Rego tests with names matching this regular expression')
		.option('--facts', 'run Rego tests with the current facts')
		.option('--draft <file>', 'run only the check tests, with the changes in a draft (- for standard input)')
		.option('--coverage', 'list permissions, derivations and rules without a check test')
		.takes('project', 'environment', 'api')
		.exits({ 0: 'all tests pass', 1: 'at least one test fails' })
		.asks(testPolicy);
}

function declareMigration(program: Declaration): void {
	program
		.command('migrate')
		.description('migrate from version 1 of the API')
		.command('check')
		.description('list the remaining migration tasks')
		.option(
			'--mine <names>',
			'projects and environments of your team, comma-separated: project or project/environment',
			appendNames,
			[],
		)
		.option('--pdp <address>', 'decision point in use: project/environment=URL or URL; repeatable', appendValue, [])
		.option('--code <folder>', 'source folder to search for version 1 calls; repeatable', appendValue, [])
		.takes('api')
		.exits({ 0: 'no tasks left', 1: 'tasks left' })
		.asks(migrateCheck);
}

function appendValue(value: string, before: readonly string[]): readonly string[] {
	return [...before, value];
}

function appendNames(value: string, before: readonly string[]): readonly string[] {
	const names = value.split(',').map((name) => name.trim());
	return [...before, ...names.filter((name) => name !== '')];
}
