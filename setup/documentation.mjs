import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { filesUnder } from './build.mjs';
import { makeStampedFolder } from './stamped-folder.mjs';

/** Markdown files outside of `docs`, and their page names. */
const otherPages = {
	'README.md': 'introduction',
	'CHANGELOG.md': 'changelog',
	'CONTRIBUTING.md': 'contributing',
	'SECURITY.md': 'security',
	'bundles/README.md': 'bundles',
	'packages/engine/README.md': 'engine',
};

/** Folders of pages that have a generated list, with its title. */
const lists = { 'docs/decisions': 'Decisions' };

const style = 'src/console/style/documentation.css';

/**
 * Renders the documentation as web pages into dist/documentation/, if a source changed. The pages need no other server:
 * the API serves them below /documentation. A link to a file without a page becomes plain text.
 * dist/documentation/pages.json lists the page names.
 * @param {string} root the repository's folder
 * @param {(detail: string) => void} say
 */
export async function buildDocumentation(root, say) {
	const texts = [...filesUnder(root, 'docs').filter((file) => file.endsWith('.md')), ...Object.keys(otherPages)].sort();
	const images = filesUnder(root, 'docs/images').sort();
	const sources = [...texts, ...images, ...filesUnder(root, 'src/console/style').sort()];
	const files = [...sources, 'package-lock.json', 'setup/documentation.mjs'];
	const made = await makeStampedFolder(root, 'dist/documentation', files, async (making) => {
		await writePages(root, making, texts, images);
		await writeStyle(root, making);
	});
	say(made ? 'rendered' : 'up to date');
}

/**
 * Returns a page's name in its address, such as `policy/console` for docs/policy/console.md. It is empty for the start
 * page.
 * @param {string} file
 * @returns {string}
 */
export function pageName(file) {
	const other = otherPages[file];
	return other ?? file.replace(/^docs\//, '').replace(/\/?(?:README)?\.md$/, '');
}

async function writePages(root, making, texts, images) {
	const { Marked, Renderer } = await import('marked');
	const contents = new Map(texts.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
	for (const [folder, title] of Object.entries(lists)) {
		const entries = texts
			.filter((file) => dirname(file) === folder)
			.map((file) => `- [${titleOf(contents.get(file))}](${posix.basename(file)})`);
		contents.set(`${folder}/README.md`, [`# ${title}`, '', ...entries].join('\n'));
	}
	const served = new Map([
		...[...contents.keys()].map((file) => [file, `/documentation/${pageName(file)}`.replace(/\/$/, '')]),
		...images.map((file) => [file, `/documentation/${file.replace(/^docs\//, '')}`]),
	]);
	const write = (name, content) => {
		mkdirSync(dirname(join(making, name)), { recursive: true });
		writeFileSync(join(making, name), content);
	};
	for (const [file, text] of contents) {
		const marked = new Marked({ renderer: renderer(Renderer.prototype, file, served) });
		write(`${pageName(file) || 'index'}.html`, pageHtml(titleOf(text), marked.parse(text)));
	}
	for (const file of images) {
		const target = join(making, file.replace(/^docs\//, ''));
		mkdirSync(dirname(target), { recursive: true });
		copyFileSync(join(root, file), target);
	}
	const pages = [...contents.keys()].map(pageName);
	write('pages.json', JSON.stringify({ pages, images: images.map((file) => file.replace(/^docs\//, '')) }));
}

/** Returns the parts of the renderer that differ from the library's. `served` has the address of each file. */
function renderer(usual, file, served) {
	const ids = new Map();
	const address = (href) => {
		if (/^(?:[a-z]+:|#)/.test(href)) return href;
		const [path, fragment] = href.split('#');
		const target = posix.join(dirname(file), path);
		const found = served.get(target) ?? served.get(`${target}README.md`);
		return found === undefined ? undefined : fragment === undefined ? found : `${found}#${fragment}`;
	};
	return {
		heading({ tokens, depth, text }) {
			const plain = anchorOf(text);
			const count = ids.get(plain) ?? 0;
			ids.set(plain, count + 1);
			const id = count === 0 ? plain : `${plain}-${count}`;
			return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
		},
		link(token) {
			const href = address(token.href);
			return href === undefined ? this.parser.parseInline(token.tokens) : usual.link.call(this, { ...token, href });
		},
		image(token) {
			return usual.image.call(this, { ...token, href: address(token.href) ?? token.href });
		},
		// Wide tables and code scroll, also by keyboard.
		table(token) {
			return `<div class="scroll" tabindex="0">${usual.table.call(this, token)}</div>\n`;
		},
		code(token) {
			return usual.code.call(this, token).replace('<pre>', '<pre tabindex="0">');
		},
		// Comments are notes for the tests.
		html({ text }) {
			if (text.startsWith('<!--')) return '';
			return text.replaceAll(/ src="([^"]+)"/g, (_, href) => ` src="${address(href) ?? href}"`);
		},
	};
}

/** Returns a heading's anchor, as on GitHub. */
function anchorOf(text) {
	return text
		.toLowerCase()
		.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
		.trim()
		.replaceAll(/\s/g, '-');
}

function titleOf(text) {
	return (/^# (.+)$/m.exec(text)?.[1] ?? '').replaceAll('`', '');
}

function escapeHtml(text) {
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function pageHtml(title, content) {
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Regolith</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/documentation/style.css">
</head>
<body>
<nav aria-label="Regolith">
<a href="/documentation">Documentation</a>
<a href="/console">Console</a>
<a href="/docs">API reference</a>
</nav>
<main>
${content}</main>
</body>
</html>
`;
}

async function writeStyle(root, making) {
	const { build } = await import('esbuild');
	await build({
		absWorkingDir: root,
		entryPoints: [style],
		outfile: join(making, 'style.css'),
		bundle: true,
		minify: true,
		logLevel: 'silent',
	});
}
