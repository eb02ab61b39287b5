import { forbidden, notFound } from '../failure.js';
import type { AccountUnit } from '../store/account.js';
import type { Caller } from '../store/caller.js';
import type { ApiKey, Environment } from '../store/table/account.js';
import { asId } from '../wire/common.js';
import type { PdpConfigRead, RemoteConfig } from '../wire/decision-point.js';

/**
 * The PDP configs of an environment that a caller may see, oldest first. They hold secrets: all of them are for keys of
 * the access level `admin`, for any other key of the environment its own.
 */
export function configsFor(account: AccountUnit, caller: Caller, environment: Environment) {
	const query = account.keys.configsOf(environment.id);
	return caller.access_level === 'admin' ? query : query.where({ id: caller.key_id });
}

/** One of them, by its id. Throws `not_found`, or `forbidden` when it is not for the caller. */
export async function configFor(
	account: AccountUnit,
	caller: Caller,
	environment: Environment,
	reference: string,
): Promise<ApiKey> {
	const id = asId(reference);
	const found = id === null ? undefined : await account.keys.configsOf(environment.id).findOne({ id });
	if (found === undefined) throw notFound('PDPConfig', reference);
	if (caller.access_level !== 'admin' && caller.key_id !== found.id) {
		throw forbidden(`this API key is not of the access level admin, so it may not see the PDP config \`${reference}\``);
	}
	return found;
}

/** The PDP config that an API key is. */
export function shownConfig(account: AccountUnit, environment: Environment, key: ApiKey): PdpConfigRead {
	const { id, organization_id, name, debug_audit_logs } = key;
	const { id: environment_id, project_id } = environment;
	const client_secret = account.keys.secretOf(key);
	return { id, organization_id, project_id, environment_id, client_secret, name, debug_audit_logs };
}

/** What the settings of a decision point depend on. */
export interface Setting {
	/** Where the API was reached. */
	readonly origin: string;
	readonly environment: Environment;
	/** The API key that it uses: the id of its config, where that is one. */
	readonly key_id: string;
	readonly debug_audit_logs: boolean;
}

/** The settings of a decision point, without any secret: it has its key already. */
export function remoteConfig({ origin, environment, key_id, debug_audit_logs }: Setting): RemoteConfig {
	const { id, organization_id, project_id } = environment;
	const bundle = `${origin}/bundles/${id}`;
	return {
		opal_common: {},
		opal_client: {},
		pdp: { BACKEND_SERVICE_URL: origin },
		context: {
			customer_id: organization_id,
			client_id: key_id,
			backend_tier: origin,
			org_id: organization_id,
			project_id,
			env_id: id,
		},
		feed: { BUNDLE_URL: bundle, REGO_BUNDLE_URL: `${bundle}/rego`, DEBUG_AUDIT_LOGS: debug_audit_logs },
	};
}
