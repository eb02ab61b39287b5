import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { freePort } from './ports.js';
import { root } from './root.js';

/** Path to the `opa` program for tests. */
export const opaPath = process.env['OPA_PATH'] ?? join(root, '.tools', 'opa');

/** Bundle source for a stock OPA. */
export interface BundleSource {
	/** Service origin. */
	readonly url: string;
	/** Bundle path below the origin, without a leading slash. */
	readonly resource: string;
	readonly apiKey: string;
	/** PEM public key to verify bundles signed with ES256. Without it, bundles are not verified. */
	readonly verificationKey?: string;
}

/** A real `opa run --server` that follows a bundle by long polling. */
export interface OpaServer {
	/** Reads a document such as `regolith/check/decision`; `undefined` if there is none. */
	data(path: string, input?: unknown): Promise<unknown>;
	/** Active bundle revision; `undefined` before the first bundle. */
	revision(): Promise<string | undefined>;
	/** Kind of the last loaded bundle as reported by OPA: `snapshot` or `delta`. */
	lastBundle(): Promise<string | undefined>;
	stop(): Promise<void>;
}

const bundle = 'environment';

/** Starts OPA with a configuration in `folder`, and waits until OPA has loaded its first bundle. */
export async function startOpa(folder: string, source: BundleSource): Promise<OpaServer> {
	const file = join(folder, 'config.yaml');
	writeFileSync(file, configuration(source));
	const address = `127.0.0.1:${await freePort()}`;
	const flags = ['--server', '--config-file', file, '--addr', address, '--log-level', 'error', '--disable-telemetry'];
	const child = spawn(opaPath, ['run', ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
	let log = '';
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		log += text;
	});
	const closed = once(child, 'close');
	const killed = () => child.kill('SIGKILL');
	process.once('exit', killed);
	const server: OpaServer = {
		data: (path, input) => ask(`http://${address}/v1/data/${path}`, { input }),
		revision: async () => (await server.data(`system/bundles/${bundle}/manifest/revision`)) as string | undefined,
		async lastBundle() {
			const response = await fetch(`http://${address}/v1/status`);
			const { result } = (await response.json()) as Status;
			return result.bundles?.[bundle]?.type;
		},
		async stop() {
			process.off('exit', killed);
			child.kill('SIGKILL');
			await closed;
		},
	};
	try {
		await eventually(() => server.revision());
		return server;
	} catch (error) {
		await server.stop();
		throw new Error(`opa has not loaded a bundle:\n${log}`, { cause: error });
	}
}

interface Status {
	readonly result: { readonly bundles?: Readonly<Record<string, { readonly type?: string }>> };
}

function configuration({ url, resource, apiKey, verificationKey }: BundleSource): string {
	const keys = { trusted: { key: verificationKey, algorithm: 'ES256' } };
	const [trusted, signing] =
		verificationKey === undefined ? ['', ''] : [`keys: ${JSON.stringify(keys)}\n`, '    signing: {keyid: trusted}\n'];
	return `${trusted}services:
  control_plane:
    url: ${url}
    credentials: {bearer: {token: ${apiKey}}}
bundles:
  ${bundle}:
    service: control_plane
    resource: ${resource}
    polling: {long_polling_timeout_seconds: 5}
${signing}status: {prometheus: true}
`;
}

async function ask(url: string, body: unknown): Promise<unknown> {
	const headers = { 'content-type': 'application/json' };
	const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
	const answer = (await response.json()) as { readonly result?: unknown };
	if (!response.ok) throw new Error(`opa answered ${response.status}: ${JSON.stringify(answer)}`);
	return answer.result;
}
