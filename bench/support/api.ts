import { type Client, client } from '../../test/support/client.js';
import { freePort } from '../../test/support/ports.js';
import type { StoreKind } from '../../test/support/postgres.js';
import { createDatabase } from '../../test/support/postgres.js';
import { Service } from '../../test/support/service.js';
import { secretFor, settings } from '../../test/support/stack.js';
import { removeFolder, temporaryFolder } from '../../test/support/temporary.js';
import type { Target } from './load.js';

/** A management API in a separate process. */
export interface Api {
	readonly url: string;
	/** Process id. */
	readonly pid: number;
	readonly organization: Client;
	/**
	 * Clients for the environment `dev`: `environment` for its API, and `pdp` for its decision point, which exists only
	 * after the command `start`.
	 */
	readonly environment: Client;
	readonly pdp: Client;
	/** Client for the decision point's listener for OPA clients. */
	readonly opa: Client;
	/** Creates an environment with an assignable role, and returns its address. */
	place(): Promise<Target>;
	stop(): Promise<void>;
}

/** Starts an API on an empty store. The command `start` also starts a decision point for the environment `dev`. */
export async function startApi(kind: StoreKind, command: 'serve' | 'start' = 'serve'): Promise<Api> {
	const folder = temporaryFolder();
	const database = kind === 'server' ? await createDatabase() : null;
	const port = await freePort();
	const pdpPort = await freePort();
	const opaPort = await freePort();
	const url = `http://127.0.0.1:${port}`;
	const env = {
		...settings(folder, 'bench'),
		API_PORT: String(port),
		PDP_PORT: String(pdpPort),
		PDP_OPA_PORT: String(opaPort),
		DATABASE_URL: database?.url ?? '',
		EMBEDDED_FSYNC: process.env['EMBEDDED_FSYNC'] ?? '',
	};
	const service = new Service(url, { command: [command], env: { ...env, LOG_LEVEL: 'warn' } });
	await service.start();
	const organization = client(url, secretFor('bench-organization'));
	let places = 0;
	return {
		url,
		pid: service.pid ?? 0,
		organization,
		environment: client(url, secretFor('bench-environment')),
		pdp: client(`http://127.0.0.1:${pdpPort}`, secretFor('bench-environment')),
		opa: client(`http://127.0.0.1:${opaPort}`, secretFor('bench-environment')),
		async place() {
			places += 1;
			const key = `place-${places}`;
			accepted(await organization.post('/v2/projects/default/envs', { key, name: key }));
			const { secret } = accepted(await organization.get<{ secret: string }>(`/v2/api-key/default/${key}`)).body;
			const role = { key: 'viewer', name: 'Viewer' };
			accepted(await organization.post(`/v2/schema/default/${key}/roles`, role));
			return { facts: `/v2/facts/default/${key}`, secret };
		},
		async stop() {
			await service.stop();
			await database?.drop();
			removeFolder(folder);
		},
	};
}

/** Throws unless the request succeeds. */
export function accepted<A extends { readonly status: number; readonly body: unknown }>(answer: A): A {
	if (answer.status >= 300) throw new Error(`the API returned ${answer.status}: ${JSON.stringify(answer.body)}`);
	return answer;
}

/** Splits a list into portions. */
export function portions<R>(rows: readonly R[], size: number): readonly (readonly R[])[] {
	return Array.from({ length: Math.ceil(rows.length / size) }, (_, index) =>
		rows.slice(index * size, (index + 1) * size),
	);
}
