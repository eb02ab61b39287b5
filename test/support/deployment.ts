import { type Database, openDatabase } from '../../src/store/database/database.js';
import { type Client, client } from './client.js';
import { eventually } from './eventually.js';
import { freePort } from './ports.js';
import { provideDatabase, type StoreKind } from './postgres.js';
import { Service } from './service.js';
import { facts, schema, secretFor, settings } from './stack.js';
import { removeFolder, temporaryFolder } from './temporary.js';

/** Process layout: separate processes for `serve` and `pdp`, or a single process with `start`. */
export type Shape = 'apart' | 'together';

/** A deployment with real processes. Their addresses stay the same after restarts. */
export interface Deployment {
	/** A single process in the shape `together`; the API and the decision point in the shape `apart`. */
	readonly services: readonly Service[];
	/** URLs of the API and the decision point, and the key for the environment `dev`. */
	readonly urls: { readonly api: string; readonly pdp: string };
	readonly key: string;
	/** Clients with the key for the environment `dev`. */
	readonly api: Client;
	readonly pdp: Client;
	/** Database URL; `null` if the database is embedded. */
	readonly databaseUrl: string | null;
	/** Opens the deployment's database. An embedded database can be opened only while no process is running. */
	database(): Promise<Database>;
	/** Stops the processes and removes all data. */
	remove(): Promise<void>;
}

/** Starts a separate deployment and waits until it serves requests. */
export async function deploy(
	kind: StoreKind,
	shape: Shape,
	/** Additional process settings. */
	more: Readonly<Record<string, string>> = {},
): Promise<Deployment> {
	const folder = temporaryFolder();
	const database = await provideDatabase(kind, folder);
	const key = secretFor('test-environment');
	const [apiPort, pdpPort] = [await freePort(), await freePort()];
	const [api, pdp] = [`http://127.0.0.1:${apiPort}`, `http://127.0.0.1:${pdpPort}`];
	const env = {
		...settings(folder, 'test'),
		API_PORT: String(apiPort),
		PDP_PORT: String(pdpPort),
		DATABASE_URL: database.url,
		LOG_LEVEL: 'warn',
		...more,
	};
	const services =
		shape === 'together'
			? [new Service(pdp, { command: ['start'], env })]
			: [
					new Service(api, { command: ['serve'], env }),
					new Service(pdp, { command: ['pdp'], env: { ...env, PDP_API_KEY: key } }),
				];
	const deployment: Deployment = {
		services,
		urls: { api, pdp },
		key,
		api: client(api, key),
		pdp: client(pdp, key),
		databaseUrl: database.url || null,
		database: () => openDatabase({ url: database.url || null, directory: folder }),
		async remove() {
			for (const service of services) await service.kill();
			await database.drop();
			removeFolder(folder);
		},
	};
	try {
		for (const service of services) await service.start();
	} catch (error) {
		await deployment.remove();
		throw error;
	}
	return deployment;
}

/** Creates the schema for the writers in a storm, and waits until the decision point has this schema. */
export async function seedSchema({ api, pdp }: Pick<Deployment, 'api' | 'pdp'>): Promise<void> {
	const writes = [
		[`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {}, write: {} } }],
		[`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read'] }],
		[`${schema}/roles`, { key: 'editor', name: 'Editor', permissions: ['document:write'] }],
		[`${facts}/users`, { key: 'alice', role_assignments: [{ role: 'viewer', tenant: 'default' }] }],
	] as const;
	let revision: number | undefined;
	for (const [path, body] of writes) {
		const answer = await api.post(path, body);
		if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
		revision = answer.revision;
	}
	await reached(pdp, revision);
}

/** Waits until a decision point uses this revision or a later revision. */
export async function reached(pdp: Client, revision: number | undefined): Promise<void> {
	const asked = { user: 'nobody', action: 'read', resource: 'document' };
	const headers = { 'x-min-revision': String(revision) };
	await eventually(
		() => pdp.post('/allowed', asked, { headers }),
		({ status }) => status === 200,
		{ deadline: 60_000 },
	);
}
