/** Links in the documents, and the page with denial codes. `first-hour.test.ts` runs the commands in the README. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';

for (const document of documents()) {
	test(`all links of ${document} resolve`, (t) => {
		const broken = relativeLinks(read(document)).filter((link) => !leads(document, link));
		t.deepEqual(broken, []);
	});
}

test('every denial code is explained at the link in explained decisions', (t) => {
	const codes = [...read('policy/regolith/rbac/rbac.rego').matchAll(/(?:denial :=|else :=) "(\w+)"/g)].map(
		([, code]) => code,
	);
	t.true(codes.length >= 7);
	const headings = new Set(headingAnchors(read('docs/develop/denial-codes.md')));
	t.deepEqual(
		codes.filter((code) => !headings.has(code ?? '')),
		[],
	);
});

function read(path: string): string {
	return readFileSync(join(root, path), 'utf8');
}

function documents(): readonly string[] {
	const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((path) =>
		join('docs', path),
	);
	const all = [
		'README.md',
		'CONTRIBUTING.md',
		'CHANGELOG.md',
		'bundles/README.md',
		'packages/engine/README.md',
		...inDocs,
	];
	return all.filter((path) => path.endsWith('.md')).sort();
}

/** Returns link targets, except links to other sites. */
function relativeLinks(markdown: string): readonly string[] {
	const links = [...markdown.matchAll(/(?:\]\(|<img src=")([^)"\s]+)[)"]/g)].map(([, link = '']) => link);
	return links.filter((link) => !/^[a-z]+:/.test(link));
}

function leads(document: string, link: string): boolean {
	const [path = '', anchor] = link.split('#');
	const target = path === '' ? join(root, document) : resolve(root, dirname(document), path);
	if (!existsSync(target) || relative(root, target).startsWith('..')) return false;
	return anchor === undefined || headingAnchors(readFileSync(target, 'utf8')).includes(anchor);
}

/** Returns the anchors for a document's headings. */
function headingAnchors(markdown: string): readonly string[] {
	return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
		heading
			.toLowerCase()
			.replaceAll(/[^\w\- ]/g, '')
			.replaceAll(' ', '-'),
	);
}
