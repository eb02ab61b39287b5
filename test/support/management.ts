import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImpactSource, Trial } from '../../src/api/impact-source.js';
import { startApi } from '../../src/compose/api.js';
import { readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import type { Store } from '../../src/store/store.js';
import type { Scope } from '../../src/store/unit/reading-unit.js';
import type { WritingUnit } from '../../src/store/unit/writing-unit.js';
import { type Client, client } from './client.js';
import { provideDatabase, type StoreKind } from './postgres.js';
import { neverSwept, settings } from './stack.js';
import { removeFolder, temporaryFolder } from './temporary.js';

/** The management API without a decision point, with real HTTP and a separate real database. */
export interface Management {
	readonly url: string;
	readonly store: Store;
	/** Clients with the keys for the first organization, its project `default` and the environment `dev`. */
	readonly organization: Client;
	readonly project: Client;
	readonly environment: Client;
	readonly keys: { readonly organization: string; readonly project: string; readonly environment: string };
	stop(): Promise<void>;
}

/** Fake `opa` program that reports a version, compiles nothing, and finds no tests in a policy. */
const onlyItsVersion = `#!/bin/sh
case "$1" in
	version) echo 'Version: 1.999.0' ;;
	test) ;;
	*) exit 1 ;;
esac
`;

/**
 * Starts a management API with additional settings. The API never compiles policies, because these tests do not need
 * policies, and even failed attempts took a fifth of the CPU time.
 */
export async function startManagement(
	kind: StoreKind = 'server',
	more: Readonly<Record<string, string>> = {},
): Promise<Management> {
	const folder = temporaryFolder();
	const database = await provideDatabase(kind, folder);
	const opa = join(folder, 'opa');
	writeFileSync(opa, onlyItsVersion, { mode: 0o755 });
	const given = { ...settings(folder, 'test'), DATABASE_URL: database.url, OPA_PATH: opa, ...more };
	const config = readConfig(given);
	const api = await startApi(config, createLogger(config.log_level), {
		sweepPause: neverSwept,
		impact: noImpact,
		publishesWhenAsked: true,
	});
	const { url } = api.listening;
	const { organization = '', project = '', environment = '' } = withoutNulls(config.bootstrap);
	return {
		url,
		store: api.store,
		keys: { organization, project, environment },
		organization: client(url, organization),
		project: client(url, project),
		environment: client(url, environment),
		async stop() {
			await api.stop();
			await database.drop();
			removeFolder(folder);
		},
	};
}

/** Applies changes as a trial, and reports no impact, because there is no policy. */
const noImpact = (store: Store): ImpactSource => ({
	async find(trial) {
		const revision = await tryTrial(store, trial);
		const none = { gained: 0, lost: 0 };
		const decisions = { ...none, replayed: 0, skipped: 0, rows: [], truncated: false };
		const counts = { ...none, asked: 0, by_cause: [] };
		return { base_revision: revision, gains: [], loses: [], counts, truncated: false, decisions, left_out: [] };
	},
	async test(trial) {
		const base_revision = await tryTrial(store, trial);
		const none = { total: 0, uncovered: 0, first: [] };
		const coverage = { permissions: none, derivations: none, set_rules: none };
		return { base_revision, passed: 0, failed: 0, truncated: false, tests: [], coverage };
	},
	explain: async () => ({ allow: false, result: false }),
	writeTest: async () => 'package checks_test\n',
});

/** Applies a change, rolls the change back, and returns the revision. */
async function tryTrial(store: Store, { scope, caller, change }: Trial<unknown>): Promise<number> {
	const work = async (unit: WritingUnit) => {
		unit.abandon();
		await change(unit);
	};
	return (await store.write(scope, caller, work, { heavy: true })).revision;
}

function withoutNulls(secrets: Readonly<Record<string, string | null>>): Readonly<Record<string, string | undefined>> {
	return Object.fromEntries(Object.entries(secrets).map(([level, secret]) => [level, secret ?? undefined]));
}

/** A running program's URL and store, as in `Management` and `Stack`. */
export interface Site {
	readonly url: string;
	readonly store: Store;
}

/** An empty environment with its own API key. */
export interface Place extends Site {
	readonly id: string;
	/** Environment key. */
	readonly key: string;
	readonly project: string;
	readonly project_id: string;
	readonly organization_id: string;
	readonly secret: string;
	/** API key id. */
	readonly key_id: string;
	/** Client with the environment's API key. */
	readonly http: Client;
	/** Path prefixes for schema, facts and elements. */
	readonly schema: string;
	readonly facts: string;
	readonly elements: string;
	/** Returns the newest revision. */
	revision(): Promise<number>;
}

/** Returns the scope for units of work that bypass the API. */
export function scopeIn({ id, project_id, organization_id }: Place): Scope {
	return { environment_id: id, project_id, organization_id };
}

/**
 * Returns a function that calls `make` with the first environment on each store, and returns this result for every later
 * environment. For contents that are expensive to create and that no test changes.
 */
export function oncePerStore<T>(make: (place: Place) => Promise<T>): (place: Place) => Promise<T> {
	const made = new WeakMap<Store, Promise<T>>();
	return (place) => {
		const known = made.get(place.store) ?? make(place);
		made.set(place.store, known);
		return known;
	};
}

let places = 0;

/** Creates an environment in a project. `owner` has a key for the project or its organization. */
export async function newPlace(site: Site, owner: Client, project = 'default', name?: string): Promise<Place> {
	places += 1;
	const key = name ?? `place-${places}`;
	const made = await owner.post(`/v2/projects/${project}/envs`, { key, name: `Place ${key}` });
	if (made.status !== 200) throw new Error(`no environment was made: ${JSON.stringify(made.body)}`);
	const { body } = await owner.get<{ id: string; secret: string }>(`/v2/api-key/${project}/${key}`);
	const { id, project_id, organization_id } = made.body as Record<'id' | 'project_id' | 'organization_id', string>;
	return {
		url: site.url,
		store: site.store,
		id,
		key,
		project,
		project_id,
		organization_id,
		secret: body.secret,
		key_id: body.id,
		http: client(site.url, body.secret),
		schema: `/v2/schema/${project}/${key}`,
		facts: `/v2/facts/${project}/${key}`,
		elements: `/v2/elements/${project}/${key}`,
		revision: async () => (await site.store.counters(id))?.revision ?? -1,
	};
}

/**
 * Creates a second organization directly in the store, because the API cannot create organizations. Returns a client
 * with the organization's key.
 */
export async function newOrganization({ url, store }: Site, key: string): Promise<{ id: string; http: Client }> {
	const id = store.clock.newId();
	const now = store.clock.now();
	await store.database.knex('organizations').insert({ id, key, name: key, created_at: now, updated_at: now });
	return { id, http: client(url, await createSecret(store, id, {})) };
}

interface KeyPlace {
	readonly project_id?: string;
	readonly environment_id?: string;
	readonly access_level?: 'admin' | 'write' | 'read' | 'no_access';
	readonly owner_type?: 'pdp_config' | 'member' | 'elements';
}

/** Creates an API key as `regolith keys create` does, and returns its secret. */
export function createSecret(store: Store, organizationId: string, place: KeyPlace): Promise<string> {
	const { project_id = null, environment_id = null, access_level = 'admin', owner_type = 'member' } = place;
	return store.writeAccount(organizationId, null, async (account) => {
		const key = { project_id, environment_id, access_level, owner_type, name: 'test' } as const;
		return (await account.keys.create(key)).secret;
	});
}
