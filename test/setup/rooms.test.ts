import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';
import { temporary } from '../support/temporary.js';

/** Setup is plain JavaScript. It is not compiled, so it is imported from its source folder. */
async function findForbiddenImports(folder: string): Promise<readonly string[]> {
	const imports: { findForbiddenImports(root: string): readonly string[] } = await import(
		join(root, 'setup/imports.mjs')
	);
	return imports.findForbiddenImports(folder);
}

test('every import is allowed by rooms.json', async (t) => {
	t.deepEqual(await findForbiddenImports(root), []);
});

const rooms = {
	everywhere: ['src/failure.ts'],
	rooms: {
		src: { imports: [] },
		'src/http': { imports: ['koa', '@koa/router', 'node:*'] },
		'src/pdp': { imports: ['src/pdp', 'src/http/server.ts', 'type compiler'] },
		'src/pdp/engine': { imports: [] },
	},
};

/** Files whose imports the table above allows or forbids. */
const imports = {
	'src/turns.ts': { allowed: ['./failure.js', './log.js'], forbidden: ['node:fs', './http/server.js'] },
	'src/http/server.ts': {
		allowed: ['koa', '@koa/router', 'node:fs/promises', './mount.js', '../failure.js'],
		forbidden: ['koa-body', 'zod', '../log.js', '../pdp/engine/heap.js', '../../compiler/model.js'],
	},
	'src/pdp/endpoints.ts': {
		allowed: ['./engine/heap.js', '../http/server.js', 'type ../../compiler/model.js'],
		forbidden: ['../http/mount.js', '../../compiler/model.js'],
	},
	'src/pdp/engine/heap.ts': { allowed: ['./steps.js'], forbidden: ['../endpoints.js', '../../log.js'] },
	'compiler/model.ts': { allowed: [], forbidden: ['./json.js'] },
} satisfies Record<string, { allowed: readonly string[]; forbidden: readonly string[] }>;

test('an import that rooms.json does not allow is reported with its line', async (t) => {
	const folder = temporary(t);
	mkdirSync(join(folder, 'packages/engine/src'), { recursive: true });
	writeFileSync(join(folder, 'rooms.json'), JSON.stringify(rooms));
	for (const [file, { allowed, forbidden }] of Object.entries(imports)) {
		mkdirSync(dirname(join(folder, file)), { recursive: true });
		writeFileSync(join(folder, file), [...allowed, ...forbidden].map(importLine).join('\n'));
	}
	const found = await findForbiddenImports(folder);

	t.true(found.includes('compiler/model.ts: rooms.json has no room for this file'));
	for (const [file, { allowed, forbidden }] of Object.entries(imports)) {
		if (file.startsWith('compiler/')) continue;
		const lines = found.filter((line) => line.startsWith(`${file}:`)).map((line) => Number(line.split(':')[1]));
		t.deepEqual(
			lines,
			forbidden.map((_, index) => allowed.length + index + 1),
			file,
		);
	}
});

test('docs/contribute/architecture.md lists the rooms in rooms.json', (t) => {
	const path = join(root, 'docs/contribute/architecture.md');
	const { rooms: table } = JSON.parse(readFileSync(join(root, 'rooms.json'), 'utf8')) as {
		readonly rooms: Readonly<Record<string, { readonly knows: string }>>;
	};
	const rows = Object.entries(table).map(([room, { knows }]) => `| \`${room}\` | ${knows} |`);
	const shown = ['| Room | Content |', '|---|---|', ...rows, ''].join('\n');
	const text = readFileSync(path, 'utf8');
	const now = text.replace(/^\| Room \| Content \|\n(?:\|.*\n)+/m, shown);
	if (process.env['UPDATE']) writeFileSync(path, now);
	else t.is(text, now, '`UPDATE=1 npm test -- test/setup/rooms.test.ts` writes the table');
	t.true(now.includes(shown));
});

/** Builder methods of Objection and Knex. Our own objects have no methods with these names. */
const builderMethod =
	/\.(?:query|(?:and|or)?where\w*|orderBy\w*|castTo|resultSize|findOne|findById|clear(?:Order|Select)|joinRaw)\s*[(<]/i;

test('only the store builds queries, and other rooms call its functions', (t) => {
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
	test(`the linter rejects violations of ${rule}`, (t) => {
		const found = lint(temporary(t), sources, rule);
		t.deepEqual(
			found.map(({ file }) => file),
			Object.keys(sources),
		);
	});
}

/** Returns the import of a value, or of a type if `specifier` begins with `type `. */
function importLine(specifier: string, index: number): string {
	const [path = '', type = ''] = specifier.split(' ').reverse();
	return `import ${type} { T${index} } from '${path}';`;
}

interface Found {
	readonly file: string;
	readonly line: number;
}

/** Runs a lint rule with the project's settings over sources in a separate folder. */
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
