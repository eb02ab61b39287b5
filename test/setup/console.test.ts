import { appendFileSync, copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { root } from '../support/root.js';
import { temporary } from '../support/temporary.js';

const { buildConsole }: { buildConsole(folder: string, say: (detail: string) => void): Promise<void> } = await import(
	join(root, 'setup/console.mjs')
);

test('the pages are bundled when something in them changed, and otherwise left alone', async (t) => {
	const folder = temporary(t);
	for (const name of ['setup', 'src']) mkdirSync(join(folder, name));
	for (const file of ['package-lock.json', 'tsconfig.json', 'setup/console.mjs']) {
		copyFileSync(join(root, file), join(folder, file));
	}
	cpSync(join(root, 'src/console'), join(folder, 'src/console'), { recursive: true });
	symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
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
	const source = join(folder, 'src/console/page/announce.tsx');
	appendFileSync(source, '\nconsole.info(announced.value);\n');
	t.is(await build(), 'bundled');
	t.not(script(), first);
	const second = script();
	appendFileSync(source, 'export const wrong: number = announced.value;\n');
	await t.throwsAsync(build(), { message: /^The pages do not compile:[\s\S]*announce\.tsx/ });
	t.is(script(), second, 'what was built before is still there');
	t.deepEqual(readdirSync(join(folder, 'dist')), ['console']);
});
