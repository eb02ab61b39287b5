import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeFolder, temporaryFolder } from '../../test/support/temporary.js';

/**
 * Load from a separate process, by `wrk` if it is installed, or else by autocannon. Autocannon takes as much CPU time
 * as a fast server, so on a small machine only `wrk` shows the highest rates.
 */

const autocannon = createRequire(import.meta.url).resolve('autocannon');
const execute = promisify(execFile);

/** Requests to send in turn. */
export interface Load {
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly bodies: readonly unknown[];
	readonly connections: number;
	readonly seconds: number;
}

/** Sends requests and returns their number and the rate per second. Throws unless every response is a success. */
export async function sendLoad(load: Load): Promise<{ readonly total: number; readonly rate: number }> {
	const folder = temporaryFolder();
	try {
		return await ((await isInstalled()) ? sendByWrk(load, folder) : sendByAutocannon(load, folder));
	} finally {
		removeFolder(folder);
	}
}

let installed: Promise<boolean> | undefined;

function isInstalled(): Promise<boolean> {
	installed ??= execute('sh', ['-c', 'command -v wrk']).then(
		() => true,
		() => false,
	);
	return installed;
}

async function sendByWrk({ url, headers, bodies, connections, seconds }: Load, folder: string) {
	const script = join(folder, 'load.lua');
	// JSON strings are also Lua strings, except for Unicode escapes, which `JSON.stringify` writes only for surrogates.
	const quoted = (text: string) => JSON.stringify(text);
	const sent = Object.entries(headers).map(([name, value]) => `[${quoted(name)}] = ${quoted(value)}`);
	const lines = [
		`local bodies = { ${bodies.map((body) => quoted(JSON.stringify(body))).join(', ')} }`,
		`local headers = { ${sent.join(', ')} }`,
		'local requests, turn = {}, 0',
		'function init()',
		'  for place, body in ipairs(bodies) do requests[place] = wrk.format("POST", nil, headers, body) end',
		'end',
		'function request()',
		'  turn = turn % #requests + 1',
		'  return requests[turn]',
		'end',
	];
	writeFileSync(script, lines.join('\n'));
	const run = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url];
	const { stdout } = await execute('wrk', run);
	const refused = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(stdout);
	if (refused !== null) throw new Error(`${url}: ${refused[0]}`);
	const [total, rate] = [/(\d+) requests in/, /Requests\/sec: +([\d.]+)/].map((part) => Number(part.exec(stdout)?.[1]));
	return { total: total ?? Number.NaN, rate: rate ?? Number.NaN };
}

async function sendByAutocannon({ url, headers, bodies, connections, seconds }: Load, folder: string) {
	const { pathname } = new URL(url);
	const requests = bodies.map((body) => ({ method: 'POST', path: pathname, headers, body: JSON.stringify(body) }));
	const script = join(folder, 'load.mjs');
	const options = { url, connections, duration: seconds, requests };
	writeFileSync(
		script,
		`import autocannon from ${JSON.stringify(autocannon)};\nconsole.log(JSON.stringify(await autocannon(${JSON.stringify(options)})));`,
	);
	const { stdout } = await execute(process.execPath, [script], { maxBuffer: 64 * 1024 * 1024 });
	const report = JSON.parse(stdout) as {
		readonly requests: { readonly total: number; readonly average: number };
		readonly non2xx: number;
		readonly errors: number;
	};
	if (report.non2xx + report.errors > 0) throw new Error(`${url}: not every response was a success`);
	return { total: report.requests.total, rate: report.requests.average };
}
