import { type Config, ConfigError } from '../config.js';
import { createEnvironment } from '../domain/environment.js';
import { notFound } from '../failure.js';
import type { AccountUnit } from '../store/account/account.js';
import type { NewApiKey } from '../store/account/writing-api-keys.js';
import type { Store } from '../store/store.js';
import type { ApiKey } from '../store/table/account.js';

/** Key for the environment `dev`, created by the first start and not shown yet. */
export interface FirstKey {
	readonly secret: string;
	/** Records that the key was shown, so later starts do not show it again. */
	noteShown(): Promise<void>;
}

/**
 * Creates the first organization with a project `default`, its environments `dev` and `production`, and their API keys,
 * unless the store has an organization. Returns the key for `dev` if it was not shown yet, and `null` otherwise. If a
 * start ends before it shows the key, the next start returns the key. Throws `ConfigError` if the store secrets belong
 * to a different server.
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
 * Throws `ConfigError` if the store secrets cannot be decrypted. Otherwise the server would fail later, and would add
 * secrets under a second key.
 */
async function refuseForeignSecrets(store: Store): Promise<void> {
	if (await store.opensSecrets()) return;
	throw new ConfigError(
		'SECRET_KEY: the secrets in this store were encrypted with a different SECRET_KEY or server.key file. ' +
			'Set the original SECRET_KEY, or restore the original server.key in DATA_DIR. To change the key, set SECRET_KEY_PREVIOUS to the old key',
	);
}

function memberKey(name: string): NewApiKey {
	return { project_id: null, environment_id: null, access_level: 'admin', owner_type: 'member', name };
}

/**
 * Returns the secret for the environment `dev` in the project `default`. Throws `ConfigError` if the project, the
 * environment or its key no longer exists.
 */
export async function readDevSecret(store: Store): Promise<string> {
	const secret = await findDevSecret(store.account(await findOrganization(store)));
	if (secret !== null) return secret;
	throw new ConfigError(
		'PDP_API_KEY: the environment `default/dev` does not exist or has no key. Set PDP_API_KEY to the key of a different environment',
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
	throw new ConfigError('There is no organization yet. Start the server once to create it, then try again.');
}

/** Request for a new API key for the organization, a project, or an environment in the project, each by id or key. */
export interface KeyRequest {
	readonly project: string | null;
	readonly environment: string | null;
	readonly access_level: NewApiKey['access_level'];
	readonly name: string | null;
}

/**
 * Creates an API key in the first organization and returns its secret. Throws `not_found` for unknown references, and
 * `ConfigError` if the server was never started or the store secrets belong to a different server.
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

/** Environment for a console ticket, by key or id. If both fields are `null`, the ticket is for the organization. */
export interface TicketRequest {
	/** Defaults to the project `default` if `environment` is set. */
	readonly project: string | null;
	/** Defaults to the project's oldest environment. */
	readonly environment: string | null;
}

/**
 * Creates a console sign-in ticket for the environment's key. Without project and environment, uses the key
 * with full access and the widest scope, and among equal scopes the oldest. Throws `not_found` for unknown references,
 * and `ConfigError` if there is no suitable key.
 */
export async function createConsoleTicket(store: Store, request: TicketRequest): Promise<string> {
	const account = store.account(await findOrganization(store));
	const key = await findTicketKey(account, request);
	if (key !== null) return store.consoleTickets.issue(key);
	throw new ConfigError('There is no API key to sign in with. Create a key with `regolith keys create`.');
}

async function findTicketKey(account: AccountUnit, { project, environment }: TicketRequest): Promise<ApiKey | null> {
	if (project === null && environment === null) return account.keys.widestAdmin();
	const place = await resolvePlace(account, { project: project ?? 'default', environment });
	const environment_id =
		place.environment_id ?? (await account.environments(place.project_id ?? '').all())[0]?.id ?? null;
	return environment_id === null ? null : account.keys.findEnvironmentKey(environment_id);
}

async function resolvePlace(account: AccountUnit, { project, environment }: TicketRequest) {
	if (project === null) return { project_id: null, environment_id: null };
	const place = await account.findPlace(project, environment);
	if (place === null) throw notFound(environment === null ? 'Project' : 'Environment', environment ?? project);
	return place;
}

/** Request from the command `lineage renew` to the process that uses the data directory. */
export interface LineageRequest {
	readonly command: 'lineage';
	/** Human-readable reason. */
	readonly reason: string;
}

/** Begins a new database lineage and returns its id. */
export async function beginLineage(store: Store, { reason }: LineageRequest): Promise<string> {
	const current = async () => (await store.lineages.list(1))[0]?.id ?? '';
	await store.lineages.renew({ ended: await current(), reason: `an operator: ${reason}` });
	return current();
}
