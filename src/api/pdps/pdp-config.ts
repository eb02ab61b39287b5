import { forbidden, notFound } from '../../failure.js';
import type { AccountUnit } from '../../store/account/account.js';
import type { Caller } from '../../store/account/caller.js';
import type { ApiKey, Environment } from '../../store/table/account.js';
import { asId } from '../../wire/common.js';
import type { PdpConfigRead, RemoteConfig } from '../../wire/decision/decision-point.js';

/**
 * Returns the PDP configs in an environment, oldest first. PDP configs contain secrets, so an `admin` key gets all
 * configs and any other key only its own.
 */
export function visibleConfigs(account: AccountUnit, caller: Caller, environment: Environment) {
	return account.keys.pdpConfigs(environment.id, caller.access_level === 'admin' ? undefined : caller.key_id);
}

/** Returns a PDP config by id. Throws `not_found`, or `forbidden` if the caller may not see it. */
export async function findVisibleConfig(
	account: AccountUnit,
	caller: Caller,
	environment: Environment,
	reference: string,
): Promise<ApiKey> {
	const id = asId(reference);
	const found = id === null ? undefined : await account.keys.findPdpConfig(environment.id, id);
	if (found === undefined) throw notFound('PDPConfig', reference);
	if (caller.access_level !== 'admin' && caller.key_id !== found.id) {
		throw forbidden(`only an API key with the access level admin can see the PDP config \`${reference}\``);
	}
	return found;
}

/** Returns a decision point's API key in the API's format. */
export function readPdpConfig(account: AccountUnit, environment: Environment, key: ApiKey): PdpConfigRead {
	const { id, organization_id, name, debug_audit_logs } = key;
	const { id: environment_id, project_id } = environment;
	const client_secret = account.keys.secret(key);
	return { id, organization_id, project_id, environment_id, client_secret, name, debug_audit_logs };
}

/** Inputs for decision point settings. */
export interface PdpSettings {
	/** API origin in the client's request. */
	readonly origin: string;
	readonly environment: Environment;
	/** API key id. If the key has a PDP config, the config has the same id. */
	readonly key_id: string;
	readonly debug_audit_logs: boolean;
}

/** Returns decision point settings. They contain no secret, because the decision point already has its key. */
export function remoteConfig({ origin, environment, key_id, debug_audit_logs }: PdpSettings): RemoteConfig {
	const { id, organization_id, project_id } = environment;
	const bundle = `${origin}/bundles/${id}`;
	return {
		opal_common: {},
		opal_client: {},
		pdp: {
			BACKEND_SERVICE_URL: origin,
			OPA_DECISION_LOG_ENABLED: true,
			OPA_DECISION_LOG_INGRESS_ROUTE: '/v1/decision_logs/ingress',
			OPA_DECISION_LOG_INGRESS_BACKEND_TIER_URL: origin,
		},
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
