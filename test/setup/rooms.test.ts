import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';
import { temporary } from '../support/temporary.js';

/** The table of rooms (docs/architecture.md): what a file may import, and what the linter must refuse. */
const rooms = {
	'compiler/policy/policy.ts': {
		may: ['./model.js', './rego/literal.js'],
		mayNot: ['node:fs', 'zod', '../src/failure.js', '../src/store/store.js'],
	},
	'compiler/rego/literal.ts': {
		may: ['../model.js', '../rego/path.js'],
		mayNot: ['node:path', '../../src/failure.js'],
	},
	'compiler/opa/opa.ts': {
		may: ['node:child_process', 'node:fs/promises', '../model.js'],
		mayNot: ['zod', '../../src/failure.js'],
	},
	'src/bundle/bundle.ts': {
		may: ['node:zlib', 'tar-stream', './failure.js', '../compiler/model.js'],
		mayNot: ['./store/store.js'],
	},
	'src/compose/compose.ts': {
		may: ['./store/store.js', './api/table.js', './pdp/engine.js', './publish/publisher.js'],
		mayNot: [],
	},
	'src/main.ts': { may: ['commander', './compose.js', './http/server.js'], mayNot: [] },
	'src/wire/schema/role.ts': {
		may: ['zod', './common.js', '../../compiler/condition/operator.js'],
		mayNot: ['koa', 'node:fs', '../store/store.js', '../../compiler/model.js'],
	},
	'src/http/server.ts': {
		may: ['koa', '@koa/router', 'zod', 'node:http', 'node:fs/promises', '../failure.js', '../log.js', './mount.js'],
		mayNot: ['knex', '../api/table.js', '../store/store.js', '../wire/role.js', '../pdp/engine.js', '../config.js'],
	},
	'src/domain/removal.ts': {
		may: [
			'../wire/role.js',
			'../store/unit/reading-unit.js',
			'../failure.js',
			'../../compiler/group-by.js',
			'../../compiler/check.js',
			'../../compiler/cycle.js',
			'../../compiler/condition/logic.js',
			're2js',
		],
		mayNot: [
			'../../compiler/policy/policy.js',
			'koa',
			'knex',
			'json-logic-js',
			'../store/policy/policy-store.js',
			'../transfer/transfer.js',
			'../publish/feed.js',
			'../pdp/engine.js',
			'../api/table.js',
			'../http/endpoint.js',
		],
	},
	'src/domain/preview/condition-preview.ts': {
		may: ['../condition-set.js', '../../store/unit/reading-unit.js', '../../wire/role.js', 'json-logic-js'],
		mayNot: ['koa', '../../transfer/transfer.js', '../../api/table.js'],
	},
	'src/token/user-token.ts': {
		may: ['jose', './key-sets.js', '../outbound/send.js', '../wire/environment.js', '../failure.js', '../clock.js'],
		mayNot: [
			'koa',
			'knex',
			'node:fs',
			'node:https',
			'../store/store.js',
			'../api/table.js',
			'../domain/element-session.js',
		],
	},
	'src/outbound/send.ts': {
		may: ['node:https', 'ipaddr.js', './public-address.js'],
		mayNot: ['koa', 'jose', '../wire/environment.js', '../store/store.js', '../webhook/post.js', '../config.js'],
	},
	'src/webhook/dispatcher.ts': {
		may: ['node:crypto', './post.js', '../outbound/send.js', '../store/account/webhook-outbox.js', '../log.js'],
		mayNot: ['koa', 'knex', '../store/store.js', '../api/table.js', '../domain/webhook-event.js', '../config.js'],
	},
	'src/transfer/part.ts': {
		may: ['../domain/role.js', '../store/unit/reading-unit.js', '../store/store.js', '../wire/role.js', '../log.js'],
		mayNot: ['knex', 'koa', '../api/table.js', '../http/endpoint.js', '../publish/feed.js'],
	},
	'src/command/inspect.ts': {
		may: [
			'node:http',
			'commander',
			'zod',
			'../failure.js',
			'../config.js',
			'../../compiler/layout.js',
			'../wire/policy.js',
		],
		mayNot: ['../store/store.js', '../domain/role.js', '../http/endpoint.js', '../pdp/engine.js'],
	},
	'src/store/store.ts': {
		may: [
			'knex',
			'objection',
			'pg',
			'../wire/role.js',
			'./table/role.js',
			'./unit/reading-unit.js',
			'../clock.js',
			'../../compiler/model.js',
			'../../compiler/cycle.js',
		],
		mayNot: [
			'../../compiler/policy/policy.js',
			'koa',
			'../http/endpoint.js',
			'../api/table.js',
			'../publish/feed.js',
			'../pdp/engine.js',
			'../main.js',
			'../bootstrap.js',
		],
	},
	'src/store/table/role.ts': {
		may: ['objection', '../unit/reading-unit.js', '../../failure.js', '../../../compiler/model.js'],
		mayNot: [
			'koa',
			'../model/facts.js',
			'../account/account.js',
			'../database/database.js',
			'../../http/endpoint.js',
			'../../domain/group.js',
			'../../../compiler/policy/policy.js',
		],
	},
	'src/store/unit/reading-unit.ts': {
		may: ['knex', '../table/role.js', '../policy/publications.js'],
		mayNot: ['../store.js', '../model/facts.js', '../account/account.js', '../database/database.js'],
	},
	'src/store/model/facts.ts': {
		may: ['../unit/reading-unit.js', '../table/role.js', '../../../compiler/model.js'],
		mayNot: ['../store.js', '../account/account.js', '../policy/policy-store.js', '../database/database.js'],
	},
	'src/store/account/account.ts': {
		may: ['../unit/reading-unit.js', '../table/role.js', '../store.js'],
		mayNot: ['../model/facts.js', '../policy/policy-store.js', '../database/database.js'],
	},
	'src/store/policy/policy-store.ts': {
		may: ['../unit/filter.js', '../../../compiler/model.js'],
		mayNot: ['../model/facts.js', '../table/role.js', '../account/account.js', '../database/database.js'],
	},
	'src/store/database/database.ts': {
		may: ['knex-pglite', '@electric-sql/pglite', '../migration/index.js', '../store.js'],
		mayNot: ['../table/role.js', '../unit/reading-unit.js', '../model/facts.js', '../account/account.js'],
	},
	'src/api/table.ts': {
		may: [
			'../http/endpoint.js',
			'../wire/role.js',
			'../domain/group.js',
			'../store/unit/reading-unit.js',
			'../transfer/transfer.js',
			'./schema/roles.js',
			'../log.js',
		],
		mayNot: ['koa', 'knex', 'objection', '../publish/feed.js', '../pdp/engine.js', '../config.js'],
	},
	'src/api/schema/roles.ts': {
		may: ['../crud.js', '../../wire/role.js', '../../http/endpoint.js', '../facts/users.js'],
		mayNot: ['koa', '../../publish/feed.js', '../../../compiler/model.js'],
	},
	'src/publish/feed.ts': {
		may: [
			'../store/store.js',
			'../../compiler/index.js',
			'../bundle.js',
			'../http/endpoint.js',
			'../http/mount.js',
			'../config.js',
		],
		mayNot: ['koa', '../http/server.js', '../api/table.js', '../domain/group.js', '../pdp/engine.js'],
	},
	'src/pdp/engine/engine.ts': {
		may: ['re2js', '../http/server.js', '../wire/role.js', '../bundle.js', '../../compiler/model.js'],
		mayNot: [
			'knex',
			'../store/store.js',
			'../domain/group.js',
			'../api/table.js',
			'../publish/feed.js',
			'../../compiler/policy/policy.js',
		],
	},
	'src/pdp/engine/heap.ts': {
		may: ['./steps.js'],
		mayNot: ['node:buffer', 'zod', '../replica.js', '../../bundle.js', '../../../compiler/model.js'],
	},
	'src/telemetry/tracing.ts': {
		may: ['@opentelemetry/api', 'prom-client', 'node:http', './metric-family.js'],
		mayNot: ['@opentelemetry/sdk-trace-node', 'koa', '../http/server.js', '../pdp/replica.js', '../log.js'],
	},
	'src/workers/worker-metrics.ts': {
		may: ['node:cluster', '../pdp/replica.js', '../telemetry/metric-family.js', '../log.js'],
		mayNot: ['prom-client', 'koa', '../http/server.js', '../store/store.js'],
	},
	'packages/engine/src/load-engine.ts': {
		may: [
			'./api.js',
			'../../../src/pdp/follow/replica.js',
			'../../../src/wire/decision/check.js',
			'../../../src/bundle/bundle.js',
			'zod',
		],
		mayNot: [
			'node:buffer',
			'../../../src/http/server.js',
			'../../../src/config.js',
			'../../../src/bundle/pack.js',
			're2js',
		],
	},
	'src/console/model/element/levels.ts': {
		may: ['./api-types.js'],
		mayNot: ['preact', 'node:fs', 'zod', '../page/requests.js', '../../wire/role.js', '../../failure.js'],
	},
	'src/console/page/requests.tsx': {
		may: ['preact', 'preact/hooks', '@preact/signals', './request-form.js', '../model/levels.js'],
		mayNot: ['node:fs', 'zod', '../embed/send-token.js', '../../wire/role.js', '../../http/endpoint.js'],
	},
	'src/console/part/announce.tsx': {
		may: ['preact', 'preact/hooks', '@preact/signals', './message-of.js', '../model/levels.js'],
		mayNot: ['node:fs', 'zod', '../page/requests.js', '../app/session.js', '../../wire/role.js'],
	},
	'src/console/app/screen/check/check-screen.tsx': {
		may: [
			'preact',
			'openapi-fetch',
			'#management-api',
			'../../session.js',
			'../../part/screen.js',
			'../../../model/draft.js',
		],
		mayNot: ['node:fs', 'zod', '../matrix/matrix-screen.js', '../../../page/requests.js', '../../../../wire/role.js'],
	},
	'src/console/embed/page-elements.ts': {
		may: ['./send-token.js'],
		mayNot: ['preact', '../model/levels.js', '../page/requests.js', '../../wire/role.js'],
	},
} as const satisfies Record<string, { may: readonly string[]; mayNot: readonly string[] }>;

test('a file may import what its room allows and nothing else', (t) => {
	const folder = temporary(t);
	const sources = Object.entries(rooms).map(
		([file, { may, mayNot }]) => [file, [...may, ...mayNot].map(importLine).join('\n')] as const,
	);
	const refused = lint(folder, Object.fromEntries(sources), 'style/noRestrictedImports');

	for (const [file, { may, mayNot }] of Object.entries(rooms)) {
		const lines = refused.filter((found) => found.file === file).map((found) => found.line);
		const wanted = mayNot.map((_, index) => may.length + index + 1);
		t.deepEqual(lines, wanted, file);
	}
});

/** Methods of Objection's and Knex's builders that no other object of ours has. */
const builderMethod =
	/\.(?:query|(?:and|or)?where\w*|orderBy\w*|castTo|resultSize|findOne|findById|clear(?:Order|Select)|joinRaw)\s*[(<]/i;

test('only the store builds queries: others ask it by a named function', (t) => {
	const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
	const others = sources.filter((file) => file.endsWith('.ts') && !file.startsWith('store/'));
	const building = others.filter((file) => builderMethod.test(readFileSync(join(root, 'src', file), 'utf8')));
	t.deepEqual(building, []);
	t.true(others.length > 200, 'the sources were found');
});

const violations = {
	'suspicious/noExplicitAny': { 'src/a.ts': 'export const a: any = 1;' },
	'style/noNonNullAssertion': { 'src/a.ts': 'export const a = (b: string | null) => b!.length;' },
	'style/noDefaultExport': { 'src/a.ts': 'export default 1;' },
	'style/noProcessEnv': { 'src/a.ts': "export const a = process.env['A'];" },
	'style/useFilenamingConvention': { 'src/aB.ts': 'export const a = 1;' },
	'suspicious/noFocusedTests': { 'test/a.test.ts': "import test from 'ava';\ntest.only('a', (t) => t.pass());" },
	'nursery/noFloatingPromises': { 'src/a.ts': 'async function a() {}\nexport function b() {\n\ta();\n}' },
	'suspicious/noImportCycles': {
		'src/a.ts': "import { b } from './b.js';\nexport const a = () => b;",
		'src/b.ts': "import { a } from './a.js';\nexport const b = () => a;",
	},
} satisfies Record<string, Record<string, string>>;

for (const [rule, sources] of Object.entries(violations)) {
	test(`the linter refuses what ${rule} is against`, (t) => {
		const found = lint(temporary(t), sources, rule);
		t.deepEqual(
			found.map(({ file }) => file),
			Object.keys(sources),
		);
	});
}

function importLine(specifier: string, index: number): string {
	return `import type { T${index} } from '${specifier}';`;
}

interface Found {
	readonly file: string;
	readonly line: number;
}

/** Runs one rule, with the project's own settings, over sources in a folder of their own. */
function lint(folder: string, sources: Readonly<Record<string, string>>, rule: string): Found[] {
	for (const [file, text] of Object.entries(sources)) {
		mkdirSync(dirname(join(folder, file)), { recursive: true });
		writeFileSync(join(folder, file), `${text}\n`);
	}
	for (const file of ['biome.json', '.gitignore']) copyFileSync(join(root, file), join(folder, file));
	const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
	const parameters = ['lint', `--only=${rule}`, '--reporter=github', '--max-diagnostics=none', '.'];
	const { stdout } = spawnSync(process.execPath, [biome, ...parameters], { cwd: folder, encoding: 'utf8' });
	return [...stdout.matchAll(/^::error .*?file=(?:.*?regolith-test-\w+\/)?(?<file>[^,]+),line=(?<line>\d+)/gm)]
		.map(({ groups }) => ({ file: groups?.['file'] ?? '', line: Number(groups?.['line']) }))
		.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
}
