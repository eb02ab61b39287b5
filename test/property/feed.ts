import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import type { Json } from '../../compiler/index.js';
import { unpack } from '../../src/bundle/bundle.js';
import type { Place } from '../support/management.js';
import { opaPath } from '../support/opa.js';
import { temporary } from '../support/temporary.js';
import type { Query } from './query.js';

/** An environment's bundles, as a decision point and a stock OPA receive them. */

const run = promisify(execFile);

/** A bundle: its tag, files and raw bytes. */
export interface Bundle {
	readonly etag: string;
	readonly files: ReadonlyMap<string, Uint8Array>;
	readonly bytes: Uint8Array;
}

type Flavour = '' | '/rego';

/** Fetches the bundle that updates the bundle with this tag to the newest state; `null` if it is the newest already. */
export function stepFrom(place: Place, etag: string): Promise<Bundle | null> {
	return fetchBundle(place, '', etag);
}

/** Fetches the newest bundle as a snapshot. */
export async function snapshot(place: Place, flavour: Flavour): Promise<Bundle> {
	const bundle = await fetchBundle(place, flavour);
	if (bundle === null) throw new Error('a request without an ETag was answered with 304');
	return bundle;
}

async function fetchBundle(place: Place, flavour: Flavour, etag?: string): Promise<Bundle | null> {
	const answer = await fetch(`${place.url}/bundles/${place.id}${flavour}`, {
		headers: {
			authorization: `Bearer ${place.secret}`,
			prefer: etag === undefined ? 'modes=snapshot' : 'modes=snapshot,delta,policy',
			...(etag === undefined ? {} : { 'if-none-match': etag }),
		},
	});
	if (answer.status === 304) return null;
	if (answer.status !== 200) throw new Error(`the feed answered ${answer.status}: ${await answer.text()}`);
	const bytes = new Uint8Array(await answer.arrayBuffer());
	return { etag: answer.headers.get('etag') ?? '', files: await unpack(bytes), bytes };
}

/** Returns a snapshot's data document. */
export function bundleData({ files }: Bundle): Json {
	return JSON.parse(Buffer.from(files.get('data.json') ?? '').toString());
}

/** Compiles a bundle's WebAssembly module. */
export async function bundleModule({ files }: Bundle): Promise<WebAssembly.Module> {
	return WebAssembly.compile(files.get('policy.wasm') as Uint8Array<ArrayBuffer>);
}

/** Returns the codes from a stock `opa eval` with a Rego bundle. */
export async function askOpa(
	t: ExecutionContext,
	bundle: Bundle,
	queries: readonly Query[],
): Promise<readonly string[]> {
	const folder = temporary(t);
	await writeFile(join(folder, 'bundle.tar.gz'), bundle.bytes);
	await writeFile(join(folder, 'input.json'), JSON.stringify({ queries }));
	const query = '[code | some q in input.queries; code := data.regolith.check.code with input as q]';
	const words = ['eval', '--bundle', 'bundle.tar.gz', '--input', 'input.json', '--format', 'json', query];
	const { stdout } = await run(opaPath, words, { cwd: folder, maxBuffer: 2 ** 26 });
	return JSON.parse(stdout).result[0].expressions[0].value;
}
