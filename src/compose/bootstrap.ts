import { type Config, ConfigError } from '../config.js';
import { createEnvironment } from '../domain/environment.js';
import { notFound } from '../failure.js';
import type { AccountUnit } from '../store/account/account.js';
import type { NewApiKey } from '../store/account/writing-api-keys.js';
import type { Store } from '../store/store.js';
import type { ApiKey } from '../store/table/account.js';

/** The key of the environment `dev` that the first start made, until it has been shown. */
export interface FirstKey {
	readonly secret: string;
	/** Notes that the key was shown, so that no later start shows it. */
	noteShown(): Promise<void>;
}

/**
 * Makes the first organization with a project `default`, its environments `dev` and `production`, and their API keys,
 * unless the store has an organization. Returns the key that has not been shown yet, or `null`. There is one on the first
 * start, and on later starts if the earlier ones ended before they showed it. Throws `ConfigError` when the secrets of the store are
 * not this server's.
 */
export async function bootstrap(store: Store, fixed: Config['bootstrap']): Promise<FirstKey | null> {
	await refuseForeignSecrets(store);
	await store.writeAccount(store.clock.newId(), null, async (account) => {
		if (!(await account.becomeFirst('default', 'Default Organization'))) return;
		const project = await account.createProject('default', { name: 'Default Project' });
		await account.keys.create({ ...memberKey('organization key'), secret: fixed.organization });
		await account.keys.create({ ...memberKey('project key'), project_id: project.id, secret: fixed.project });
		await createEnvironment(account, project.id, 'dev', { name: 'Development' }, fixed.environment);
		await createEnvironment(account, project.id, 'production', { name: 'Production' });
	});
	return findFirstKey(store);
}

async function findFirstKey(store: Store): Promise<FirstKey | null> {
	const organization = await findOrganization(store);
	const account = store.account(organization);
	if (await account.isFirstKeyShown()) return null;
	const secret = await findDevSecret(account);
	if (secret === null) return null;
	return {
		secret,
		noteShown: () => store.writeAccount(organization, null, (unit) => unit.noteFirstKeyShown()),
	};
}

/**
 * A server that cannot decrypt the store's secrets must not start: it would fail later, and add secrets under another
 * key.
 */
async function refuseForeignSecrets(store: Store): Promise<void> {
	if (await store.opensSecrets()) return;
	throw new ConfigError(
		'SECRET_KEY: the secrets in this store were encrypted under another SECRET_KEY or server.key file: ' +
			'set the SECRET_KEY that they were made with, or restore that server.key in DATA_DIR; to change the key, name the old one in SECRET_KEY_PREVIOUS',
	);
}

function memberKey(name: string): NewApiKey {
	return { project_id: null, environment_id: null, access_level: 'admin', owner_type: 'member', name };
}

/** The secret of the environment `dev` of the project `default`. Throws `ConfigError` if they no longer exist. */
export async function readDevSecret(store: Store): Promise<string> {
	const secret = await findDevSecret(store.account(await findOrganization(store)));
	if (secret !== null) return secret;
	throw new ConfigError(
		'PDP_API_KEY: the environment `default/dev` is gone or has no key: set it to the key of another environment',
	);
}

async function findDevSecret(account: AccountUnit): Promise<string | null> {
	const { environment_id = null } = (await account.findPlace('default', 'dev')) ?? {};
	if (environment_id === null) return null;
	const key = await account.keys.findEnvironmentKey(environment_id);
	return key === null ? null : account.keys.secret(key);
}

async function findOrganization(store: Store): Promise<string> {
	const id = await store.firstOrganization();
	if (id !== null) return id;
	throw new ConfigError(
		'there is no organization yet: start the server once, which creates the first one, and try again',
	);
}

/**
 * What a new API key is to open: the organization, a project of it, or an environment of that project; by id or key.
 */
export interface KeyRequest {
	readonly project: string | null;
	readonly environment: string | null;
	readonly access_level: NewApiKey['access_level'];
	readonly name: string | null;
}

/**
 * Makes an API key on the first organization and returns its secret. Throws `not_found` for what it names, and
 * `ConfigError` when the server was never started or its secrets are not this server's.
 */
export async function createKeyByCommand(store: Store, request: KeyRequest): Promise<string> {
	const organizationId = await findOrganization(store);
	await refuseForeignSecrets(store);
	return store.writeAccount(organizationId, null, async (account) => {
		const { project_id, environment_id } = await resolvePlace(account, request);
		const { access_level, name } = request;
		const owner_type = 'member';
		return (await account.keys.create({ project_id, environment_id, access_level, owner_type, name })).secret;
	});
}

/** The environment whose key a ticket for the console is to stand for, by keys or ids: `default/dev`, where it is not said. */
export interface TicketRequest {
	readonly project: string | null;
	/** Needs `project`, whose oldest environment it is otherwise. */
	readonly environment: string | null;
}

/**
 * Makes a ticket with which somebody signs in to the console: for the key of the environment, or, where none is named and
 * `default/dev` is gone, for the oldest key that may do everything. Throws `not_found` for what it names, and `ConfigError`
 * when there is no such key.
 */
export async function createConsoleTicket(store: Store, request: TicketRequest): Promise<string> {
	const account = store.account(await findOrganization(store));
	const key = await findTicketKey(account, request);
	if (key !== null) return store.consoleTickets.issue(key);
	throw new ConfigError('there is no API key to sign in with: make one with `regolith keys create`');
}

async function findTicketKey(account: AccountUnit, { project, environment }: TicketRequest): Promise<ApiKey | null> {
	if (project !== null) {
		const place = await resolvePlace(account, { project, environment });
		const environment_id = place.environment_id ?? (await account.environments(place.project_id ?? ''))[0]?.id ?? null;
		return environment_id === null ? null : account.keys.findEnvironmentKey(environment_id);
	}
	const { environment_id = null } = (await account.findPlace('default', 'dev')) ?? {};
	const ofDev = environment_id === null ? null : await account.keys.findEnvironmentKey(environment_id);
	return ofDev ?? account.keys.oldestAdmin();
}

async function resolvePlace(account: AccountUnit, { project, environment }: TicketRequest) {
	if (project === null) return { project_id: null, environment_id: null };
	const place = await account.findPlace(project, environment);
	if (place === null) throw notFound(environment === null ? 'Project' : 'Environment', environment ?? project);
	return place;
}

/** What `lineage renew` asks of the process that holds a data directory. */
export interface LineageRequest {
	readonly command: 'lineage';
	/** Why, for people. */
	readonly reason: string;
}

/** Begins a new lineage of the database and returns its id. */
export async function beginLineage(store: Store, { reason }: LineageRequest): Promise<string> {
	const current = async () => (await store.lineages.list(1))[0]?.id ?? '';
	await store.lineages.renew({ ended: await current(), reason: `an operator: ${reason}` });
	return current();
}
