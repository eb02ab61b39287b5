import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { fencedBlocks, firstHourPages } from '../support/readme-reader.js';
import { root } from '../support/root.js';

/**
 * Every shell command in the documentation either runs in a test, or has a comment that says why it does not:
 * `<!-- not run: reason -->`.
 */

const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Tests that run the pages, keyed by page. */
const runners: Readonly<Record<string, string>> = {
	...Object.fromEntries(firstHourPages.map((page) => [page, 'test/journey/first-hour.test.ts'])),
	'docs/operate/backup.md': 'test/journey/lineage.test.ts',
	'docs/develop/elements-quickstart.md': 'test/console/elements.test.ts',
	'docs/policy/policy.md': 'test/docs/policy.test.ts',
	'docs/develop/guides/express.md': 'test/journey/guides.test.ts',
	'docs/develop/guides/fastapi.md': 'test/journey/guides.test.ts',
	'docs/develop/guides/go.md': 'test/journey/guides.test.ts',
};

const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
	.filter((path) => path.endsWith('.md'))
	.map((path) => `docs/${path}`)
	.concat('README.md', 'CONTRIBUTING.md', 'bundles/README.md', 'packages/engine/README.md');

test('every shell block runs in a test or gives a reason not to run', (t) => {
	const unmarked = pages
		.filter((path) => !(path in runners))
		.flatMap((path) => fencedBlocks(read(path)).map((block) => ({ path, ...block })))
		.filter(({ language, notRun }) => language === 'sh' && notRun === null);
	t.deepEqual(
		unmarked.map(({ path, text }) => `${path}: ${text.split('\n')[0]}`),
		[],
	);
	for (const [page, runner] of Object.entries(runners)) {
		t.true(pages.includes(page), page);
		t.regex(read(runner), new RegExp(`firstHourPages|docs/develop/guides|${page}`), runner);
	}
});

const sources = ['src', 'compiler', 'packages/engine']
	.flatMap((folder) =>
		readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
	)
	.filter((path) => /(?<!\.d)\.tsx?$/.test(path) && !/node_modules|dist/.test(path));

test('every name in the "Code" columns of `limits.md` exists', (t) => {
	const code = sources.map(read).join('\n');
	const cells = read('docs/develop/limits.md')
		.split('\n')
		.map((line) => /^\|.* \|([^|]*`[^|]*)\|$/.exec(line)?.[1] ?? '');
	const names = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''));
	t.true(names.length > 150, `${names.length} names`);
	for (const name of names) {
		const isFile = name.endsWith('.ts');
		const found = isFile
			? name.startsWith('test/') || sources.some((path) => path === name || path.endsWith(`/${name}`))
			: name.split('.').every((part) => new RegExp(`\\b${part}\\b`).test(code));
		t.true(found, name);
	}
});
