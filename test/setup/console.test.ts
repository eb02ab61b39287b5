// @alone @rest

import {
	appendFileSync,
	copyFileSync,
	cpSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { openFrontEnd } from '../../src/http/front-end.js';
import { root } from '../support/root.js';
import { type Cleanup, temporary } from '../support/temporary.js';

interface ConsoleSetup {
	readonly buildConsole: (folder: string, say: (detail: string) => void) => Promise<void>;
	readonly sourceFolders: readonly string[];
}

const { buildConsole, sourceFolders }: ConsoleSetup = await import(join(root, 'setup/console.mjs'));

/** Copies the sources of the pages. */
function copied(t: Cleanup): string {
	const folder = temporary(t);
	for (const name of ['setup', 'src']) mkdirSync(join(folder, name));
	for (const file of ['package-lock.json', 'tsconfig.json', 'setup/console.mjs']) {
		copyFileSync(join(root, file), join(folder, file));
	}
	for (const name of sourceFolders) cpSync(join(root, name), join(folder, name), { recursive: true });
	symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
	return folder;
}

test('the pages are bundled only if their sources have changed', async (t) => {
	const folder = copied(t);
	const build = async () => {
		const said: string[] = [];
		await buildConsole(folder, (detail) => said.push(detail));
		return said.at(-1);
	};
	const script = () => JSON.parse(readFileSync(join(folder, 'dist/console/pages.json'), 'utf8')).element.script;
	t.is(await build(), 'bundled');
	t.is(await build(), 'up to date');
	const first = script();
	t.regex(first, /^element-[A-Z0-9]{8}\.js$/);
	const source = join(folder, 'src/console/part/announce.tsx');
	appendFileSync(source, '\nconsole.info(announced.value);\n');
	t.is(await build(), 'bundled');
	t.not(script(), first);
	const second = script();
	appendFileSync(source, 'const wrong = ;\n');
	await t.throwsAsync(build(), { message: /^The pages cannot be bundled:[\s\S]*announce\.tsx/ });
	t.is(script(), second, 'the previous build remains');
	t.deepEqual(readdirSync(join(folder, 'dist')), ['console']);
});

test('console code that is loaded lazily is in separate files, which are also served', async (t) => {
	const folder = copied(t);
	const part = 'export const loadedLater = "only when it is needed";\n';
	writeFileSync(join(folder, 'src/console/app/loaded-later.ts'), part);
	const entry = join(folder, 'src/console/app/console-app.tsx');
	appendFileSync(entry, "\nvoid import('./loaded-later.js').then(({ loadedLater }) => console.info(loadedLater));\n");
	await buildConsole(folder, () => {});
	const built = join(folder, 'dist/console');
	const { console: page, element } = JSON.parse(readFileSync(join(built, 'pages.json'), 'utf8'));
	const frontEnd = openFrontEnd(built);
	t.deepEqual(await frontEnd.page('console'), page);
	t.deepEqual(element.chunks, []);
	const texts: string[] = await Promise.all(
		page.chunks.map(async (name: string) => String((await frontEnd.asset(name, undefined)).bytes)),
	);
	t.is(texts.filter((text) => text.includes('only when it is needed')).length, 1);
	t.false(readFileSync(join(built, 'assets', page.script), 'utf8').includes('only when it is needed'));
	for (const name of page.chunks) t.regex(name, /^console-[A-Z0-9]{8}\.(?:js|css)$/);
});
