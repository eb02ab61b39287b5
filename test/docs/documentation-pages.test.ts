import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';

/** Documentation pages, as rendered by setup. */

const folder = join(root, 'dist/documentation');
const { pages, images }: { readonly pages: readonly string[]; readonly images: readonly string[] } = JSON.parse(
	readFileSync(join(folder, 'pages.json'), 'utf8'),
);

function htmlOf(page: string): string {
	return readFileSync(join(folder, `${page || 'index'}.html`), 'utf8');
}

/** Headings of a page, by anchor. */
function headingsOf(page: string): ReadonlyMap<string, string> {
	const found = htmlOf(page).matchAll(/<h\d id="([^"]*)">(.*)<\/h\d>/g);
	return new Map(Array.from(found, ([, anchor = '', title = '']) => [anchor, title.replaceAll(/<[^>]*>/g, '')]));
}

test('every link on a page has an existing target: a page, a heading or an image', (t) => {
	t.true(pages.length > 100);
	const anchors = new Map(pages.map((page) => [page, headingsOf(page)]));
	for (const page of pages) {
		const html = htmlOf(page);
		for (const [, address = ''] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
			if (/^(?:https?:|mailto:|data:)/.test(address) || ['/console', '/docs'].includes(address)) continue;
			const found = /^(?:\/documentation\/?([^#]*))?(?:#(.*))?$/.exec(address);
			const [, target = page, anchor] = found ?? [];
			if (found === null) t.fail(`${page}: ${address}`);
			else if (anchor !== undefined) t.true(anchors.get(target)?.has(anchor), `${page}: ${address}`);
			else t.true(pages.includes(target) || images.includes(target) || target === 'style.css', `${page}: ${address}`);
		}
		t.false(html.includes('<!--'), page);
	}
});

test('console links to documentation pages have the titles of these pages', (t) => {
	const screens = readdirSync(join(root, 'src/console/app'), { recursive: true, encoding: 'utf8' });
	const links = screens
		.filter((file) => file.endsWith('.tsx'))
		.flatMap((file) => [
			...readFileSync(join(root, 'src/console/app', file), 'utf8').matchAll(/page: '([^']+)', title: '([^']+)'/g),
		]);
	t.true(links.length > 15);
	for (const [, address = '', title = ''] of links) {
		const [page = '', anchor] = address.split('#');
		const headings = pages.includes(page) ? headingsOf(page) : new Map<string, string>();
		const [first] = headings.values();
		t.is(anchor === undefined ? first : headings.get(anchor), title, address);
	}
});
