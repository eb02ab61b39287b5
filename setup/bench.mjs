import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium } from './chromium.mjs';
import { SetupError, step } from './progress.mjs';
import { providePostgres } from './test.mjs';

/**
 * Runs benchmarks in separate processes: the named benchmarks (`bench/check.bench.ts` is `check`), or all benchmarks in
 * name order.
 * @param {string} root the package's folder
 * @param {readonly string[]} names
 * @returns {Promise<number>} the exit code: 0 if all succeeded
 */
export async function runBenchmarks(root, names) {
	const folder = join(root, 'dist/bench');
	const all = (existsSync(folder) ? readdirSync(folder) : [])
		.filter((file) => file.endsWith('.bench.js'))
		.map((file) => file.slice(0, -'.bench.js'.length))
		.sort();
	const unknown = names.find((name) => !all.includes(name));
	if (unknown) throw new SetupError(`There is no benchmark \`${unknown}\`. The benchmarks are: ${all.join(', ')}.`);

	const chosen = names.length > 0 ? names : all;
	// Only page benchmarks need Chromium.
	if (chosen.includes('console')) process.env.CHROMIUM_PATH = await step('chromium', findChromium);
	const server = await step('postgres', (say) => providePostgres(root, say, { durable: true }));
	try {
		let worst = 0;
		for (const name of chosen) worst ||= await runOne(join(folder, `${name}.bench.js`), server.url);
		return worst;
	} finally {
		await server.stop();
	}
}

async function runOne(file, postgresUrl) {
	const child = spawn(process.execPath, ['--enable-source-maps', '--expose-gc', file], {
		env: { ...process.env, TEST_POSTGRES_URL: postgresUrl },
		stdio: ['ignore', 'inherit', 'inherit'],
	});
	const [code] = await once(child, 'close');
	return code ?? 1;
}
