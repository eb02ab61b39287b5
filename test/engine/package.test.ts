import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import type { Model } from '../../compiler/model.js';
import { acme, environment, resource, snapshot } from '../pdp/environment.js';
import { FakeFeed } from '../pdp/fake-feed.js';
import { key } from '../pdp/served.js';
import { fenced } from '../support/fenced.js';
import { root } from '../support/root.js';
import { temporary } from '../support/temporary.js';
import { buildFile, packageFolder } from './built.js';

/**
 * The packed package installs without a network, its README works, and its types need no types of a specific runtime.
 */

const run = promisify(execFile);

/** Ann is a reader of reports at Acme. */
const reports: Model = {
	schema: {
		...acme.schema,
		resources: [resource('report', ['read', 'write'])],
		roles: [
			{
				key: 'reader',
				name: 'Reader',
				description: null,
				permissions: [{ resource: 'report', action: 'read' }],
				extends: [],
			},
		],
	},
	facts: { ...acme.facts, role_assignments: [{ user: 'ann', role: 'reader', tenant: 'acme' }] },
};

test('the package installs in an empty folder without a network, and its README works there', async (t) => {
	const folder = temporary(t);
	const npm = (parameters: readonly string[], cwd: string) =>
		run('npm', [...parameters, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd });
	await npm(['pack', '--pack-destination', folder], packageFolder);
	const [packed = ''] = readdirSync(folder);
	t.is(packed, 'regolith-engine-0.1.0.tgz');
	const user = join(folder, 'user');
	mkdirSync(user);
	writeFileSync(join(user, 'package.json'), '{ "private": true, "type": "module" }');
	await npm(['install', join(folder, packed)], user);
	const installed = join(user, 'node_modules/@regolith/engine');
	t.deepEqual(readdirSync(join(user, 'node_modules')).sort(), ['.package-lock.json', '@regolith']);
	t.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);
	const built = ['LICENSES.txt', 'api.d.ts', 'edge.js', 'filter.d.ts', 'index.d.ts', 'load-engine.d.ts', 'node.js'];
	t.deepEqual(readdirSync(join(installed, 'dist')).sort(), built);
	t.is(readFileSync(join(installed, 'LICENSE'), 'utf8'), readFileSync(join(root, 'LICENSE'), 'utf8'));
	t.regex(readFileSync(join(installed, 'dist/LICENSES.txt'), 'utf8'), /^zod \d[^\n]+\(MIT\)$/m);

	const feed = new FakeFeed();
	await feed.start();
	t.teardown(() => feed.stop());
	feed.publish({ revision: 1, snapshot: await snapshot({ revision: 1, model: reports }) });
	const readme = readFileSync(join(installed, 'README.md'), 'utf8');
	const env = {
		PATH: process.env['PATH'] ?? '',
		PERMIT_API_URL: feed.url,
		PERMIT_API_KEY: key,
		ENVIRONMENT_ID: environment,
	};
	for (const commands of fenced(readme, 'sh')) {
		await run('bash', ['-ec', commands.replaceAll('http://localhost:8000', feed.url)], { cwd: user, env });
	}
	const [promised = ''] = fenced(readme, 'text');
	const examples = fenced(readme, 'js');
	t.is(examples.length, 3);
	for (const [index, example] of examples.entries()) {
		writeFileSync(join(user, `example-${index}.js`), example);
		const { stdout } = await run(process.execPath, [`example-${index}.js`], { cwd: user, env, timeout: 60_000 });
		t.is(stdout, promised);
	}
	for (const condition of ['browser', 'workerd']) {
		const asked = 'console.log(import.meta.resolve("@regolith/engine"))';
		const parameters = [`--conditions=${condition}`, '--input-type=module', '--eval', asked];
		t.regex((await run(process.execPath, parameters, { cwd: user })).stdout, /\/dist\/edge\.js\n$/);
	}

	writeFileSync(join(user, 'user.ts'), consumer);
	const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--noEmit', '--types', ''];
	const resolution = ['--target', 'es2022', '--lib', 'es2022', '--module', 'nodenext'];
	const compiler = join(root, 'node_modules/typescript/bin/tsc');
	const { stdout } = await run(process.execPath, [compiler, ...strict, ...resolution, 'user.ts'], { cwd: user }).catch(
		(error: { readonly stdout: string }) => error,
	);
	t.is(stdout, '');
});

/** A user's code, which must compile without the types for Node.js and browsers. */
const consumer = `import { loadEngine, RegolithError, type CheckQuery, type LoadedEngine } from '@regolith/engine';

const query: CheckQuery = { user: { key: 'ann' }, action: 'read', resource: 'report' };
export async function decide(bundle: Uint8Array): Promise<boolean> {
	const engine: LoadedEngine = await loadEngine({ bundle });
	const { users } = await engine.authorizedUsers({ action: 'read', resource: { type: 'report', tenant: 'acme' } });
	const granted: string | undefined = users['ann']?.[0]?.role;
	return engine.check(query).allow && granted !== undefined;
}
export const isRefused = (error: unknown) => error instanceof RegolithError && error.code === 'refused';
// @ts-expect-error: a source is one of three forms
void loadEngine({ apiKey: 'key' });
`;

test('the build for browsers and edge runtimes uses no Node.js API, and is small', (t) => {
	const text = readFileSync(buildFile('edge'), 'utf8');
	for (const name of [
		/\bnode:\w/,
		/\brequire\b\s*\(/,
		/\bimport\s*[({"']/,
		/\bBuffer\b/,
		/\bprocess\./,
		/\bimport\.meta\b/,
	]) {
		t.notRegex(text, name);
	}
	const [size, compressed] = [statSync(buildFile('edge')).size, gzipSync(text, { level: 9 }).length];
	t.log({ bytes: size, compressed });
	t.true(size < 450_000, 'the README states the size');
	t.true(compressed < 140_000);
});
