import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type SamplingRule, Settings } from './settings.js';

/** Reads the settings from environment variables. `settings.ts` declares and documents each setting. */

export type { SamplingRule };

/** Process settings. Port 0 picks a free port; paths are absolute. */
export interface Config {
	readonly host: string;
	readonly api_port: number;
	readonly pdp_port: number;
	/** Port for OPA's Data API on the decision point; `null` disables it. */
	readonly pdp_opa_port: number | null;
	readonly data_directory: string;
	/** `null` selects the embedded database under `data_directory`. */
	readonly database_url: string | null;
	/** Free bytes below which the embedded database rejects writes; 0 disables the check. */
	readonly min_free_bytes: number;
	/** True if the embedded database syncs each commit to disk. If false, a power cut may lose writes. */
	readonly embedded_fsync: boolean;
	/** Passphrase for the server key. If `null`, the server key is random and stored in a file in `data_directory`. */
	readonly secret_key: string | null;
	/** Passphrase from before a rotation. Secrets encrypted with it can still be read, and are encrypted again. */
	readonly secret_key_previous: string | null;
	/** Private key file for bundle signatures, and the key id in the signatures. A `null` path disables signing. */
	readonly bundle_signing: { readonly key_path: string | null; readonly key_id: string };
	readonly pdp_api_key: string | null;
	/** API origin for a decision point; `null` for this machine's `api_port`. */
	readonly pdp_control_plane: string | null;
	/** Number of decision point processes. */
	readonly pdp_workers: number;
	/** Decision points with the mode `cloud` evaluate no conditions. */
	readonly pdp_mode: 'edge' | 'cloud';
	/** CPU time limit per decision point request, in seconds. */
	readonly pdp_budget: number;
	/** Public decision point URL without a trailing slash. If `null`, the URL in the request is used. */
	readonly pdp_public_url: string | null;
	/**
	 * Decision point URL for the console, without a trailing slash. `{project}` and `{environment}` in it are replaced
	 * by keys. If `null`, the console uses the decision point in this process, if any.
	 */
	readonly console_pdp_url: string | null;
	/** AuthZEN subject types that denote users. */
	readonly pdp_subject_types: readonly string[];
	/**
	 * Time limit in seconds for a write through a decision point to wait for its revision; negative
	 * for no limit.
	 */
	readonly pdp_facts_wait: number;
	/** Behavior after `pdp_facts_wait`: respond normally, or with status 424. */
	readonly pdp_facts_timeout_policy: 'ignore' | 'fail';
	/** Folder for the offline copy; `null` disables the copy. */
	readonly pdp_offline_directory: string | null;
	/** Public key files. Each bundle must be signed with one of these keys. An empty list disables verification. */
	readonly pdp_bundle_verification_key_paths: readonly string[];
	/** Maximum age in seconds of the data behind a decision; `null` for any age. */
	readonly pdp_max_data_age: number | null;
	/** Decision log receivers: `api`, `stdout`, `file:<path>`, or a collector URL. An empty list disables the log. */
	readonly decision_log: readonly string[];
	/** Bearer token for a collector. */
	readonly decision_log_token: string | null;
	/** Rules for selecting the decisions to log. */
	readonly decision_log_sampling: readonly SamplingRule[];
	/** Paths of input fields to omit from logs. */
	readonly decision_log_mask: readonly (readonly string[])[];
	/** Retention of decisions in the API, in days. */
	readonly audit_log_days: number;
	/** Maximum total size of the stored decisions, in bytes. */
	readonly audit_log_bytes: number;
	/** Limits for an impact process: seconds per request, and MiB of memory. */
	readonly impact: { readonly seconds: number; readonly memory: number };
	/** Gateway documents on decision points. If a path is `null`, the default path is used. */
	readonly gateways: {
		readonly kong: boolean;
		readonly kong_routes: string | null;
		readonly trino_rules: string | null;
		/** True if Trino may query without a key. */
		readonly open_trino: boolean;
	};
	/** True if anyone may read the metrics at `/metrics`, for the API and the decision point. */
	readonly open_metrics: { readonly api: boolean; readonly pdp: boolean };
	/** True if webhooks may call this machine and private networks. */
	readonly webhook_allow_private: boolean;
	/** True if requests for token key sets may call this machine and private networks. */
	readonly jwks_allow_private: boolean;
	readonly log_level: string;
	/** Path of the opa executable. If `null`, uses the opa that setup builds in `.tools`, or else an opa on PATH. */
	readonly opa_path: string | null;
	/** Program search path, in PATH format. */
	readonly search_path: string;
	/** Fixed secrets for the keys of the first organization, project and environment. */
	readonly bootstrap: {
		readonly organization: string | null;
		readonly project: string | null;
		readonly environment: string | null;
	};
}

/** Error for invalid settings. Its message has a sentence per variable. It omits the values, which may be secret. */
export class ConfigError extends Error {
	override readonly name = 'ConfigError';
}

/** Reads the settings from `environment`. Empty variables are treated as unset. Throws `ConfigError`. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
	const set = Object.fromEntries(
		Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
	);
	const parsed = Settings.safeParse(set);
	if (!parsed.success) {
		const { issues } = parsed.error;
		// A value can be wrong in several ways. Report only its first problem.
		const first = issues.filter(({ path }, index) => issues.findIndex((other) => other.path[0] === path[0]) === index);
		throw new ConfigError(first.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'));
	}
	const settings = parsed.data;
	const secrets = [settings.BOOTSTRAP_ORG_API_KEY, settings.BOOTSTRAP_PROJECT_API_KEY, settings.BOOTSTRAP_ENV_API_KEY];
	const given = secrets.filter((value) => value !== undefined);
	if (new Set(given).size !== given.length)
		throw new ConfigError('BOOTSTRAP_*_API_KEY: each key needs a different secret');
	if (settings.SECRET_KEY !== undefined && settings.SECRET_KEY === settings.SECRET_KEY_PREVIOUS)
		throw new ConfigError('SECRET_KEY_PREVIOUS: must differ from SECRET_KEY');
	const dataDirectory = resolve(settings.DATA_DIR.replace(/^~(?=\/|$)/, homedir()));
	return {
		host: settings.HOST,
		api_port: settings.API_PORT,
		pdp_port: settings.PDP_PORT,
		pdp_opa_port: settings.PDP_OPA_PORT ?? null,
		data_directory: dataDirectory,
		database_url: settings.DATABASE_URL ?? null,
		min_free_bytes: settings.MIN_FREE_DISK * 2 ** 20,
		embedded_fsync: settings.EMBEDDED_FSYNC,
		secret_key: settings.SECRET_KEY ?? null,
		secret_key_previous: settings.SECRET_KEY_PREVIOUS ?? null,
		bundle_signing: { key_path: settings.BUNDLE_SIGNING_KEY_PATH ?? null, key_id: settings.BUNDLE_SIGNING_KEY_ID },
		pdp_api_key: settings.PDP_API_KEY ?? null,
		pdp_control_plane: settings.PDP_CONTROL_PLANE ?? null,
		pdp_workers: settings.PDP_WORKERS,
		pdp_mode: settings.PDP_MODE,
		pdp_budget: settings.PDP_BUDGET,
		pdp_public_url: settings.PDP_PUBLIC_URL ?? null,
		console_pdp_url: settings.CONSOLE_PDP_URL ?? null,
		pdp_subject_types: settings.PDP_SUBJECT_TYPES,
		pdp_facts_wait: settings.PDP_LOCAL_FACTS_WAIT_TIMEOUT,
		pdp_facts_timeout_policy: settings.PDP_LOCAL_FACTS_TIMEOUT_POLICY,
		pdp_offline_directory: settings.PDP_ENABLE_OFFLINE_MODE
			? resolve(settings.PDP_OFFLINE_MODE_BACKUP_DIR ?? join(dataDirectory, 'offline'))
			: null,
		pdp_bundle_verification_key_paths: settings.PDP_BUNDLE_VERIFICATION_KEY_PATHS,
		pdp_max_data_age: settings.PDP_MAX_DATA_AGE ?? null,
		decision_log: settings.PDP_DECISION_LOG.filter((place) => place !== 'off'),
		decision_log_token: settings.PDP_DECISION_LOG_TOKEN ?? null,
		decision_log_sampling: settings.PDP_DECISION_LOG_SAMPLING,
		decision_log_mask: settings.PDP_DECISION_LOG_MASK,
		audit_log_days: settings.AUDIT_LOG_DAYS,
		audit_log_bytes: settings.AUDIT_LOG_MAX_SIZE * 2 ** 20,
		impact: { seconds: settings.IMPACT_TIMEOUT, memory: settings.IMPACT_MEMORY },
		gateways: {
			kong: settings.PDP_KONG_INTEGRATION,
			kong_routes: settings.PDP_KONG_ROUTES_PATH ?? null,
			trino_rules: settings.PDP_TRINO_AUTHZ_CONFIG_PATH ?? null,
			open_trino: settings.PDP_ALLOW_UNAUTHENTICATED_TRINO,
		},
		open_metrics: {
			api: settings.API_ALLOW_METRICS_UNAUTHENTICATED,
			pdp: settings.PDP_ALLOW_METRICS_UNAUTHENTICATED,
		},
		webhook_allow_private: settings.WEBHOOK_ALLOW_PRIVATE,
		jwks_allow_private: settings.JWKS_ALLOW_PRIVATE,
		log_level: settings.LOG_LEVEL,
		opa_path: settings.OPA_PATH ?? null,
		search_path: settings.PATH,
		bootstrap: {
			organization: settings.BOOTSTRAP_ORG_API_KEY ?? null,
			project: settings.BOOTSTRAP_PROJECT_API_KEY ?? null,
			environment: settings.BOOTSTRAP_ENV_API_KEY ?? null,
		},
	};
}

/** Throws `ConfigError` if two settings have the same port. Port 0 never conflicts, and `null` is ignored. */
export function requireDistinctPorts(ports: Readonly<Record<string, number | null>>): void {
	const taken = new Map<number, string>();
	for (const [name, port] of Object.entries(ports)) {
		if (port === null || port === 0) continue;
		const other = taken.get(port);
		if (other !== undefined)
			throw new ConfigError(`${name}: port ${port} is already used by ${other}. Change one of them`);
		taken.set(port, name);
	}
}
