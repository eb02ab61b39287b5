import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type SamplingRule, Settings } from './settings.js';

/** The only reader of `process.env`. `settings.ts` declares and documents each setting. */

export type { SamplingRule };

/** The process's settings. Ports 0 pick a free one; paths are absolute. */
export interface Config {
	readonly host: string;
	readonly api_port: number;
	readonly pdp_port: number;
	/** Where the decision point speaks OPA's Data API; `null` is nowhere. */
	readonly pdp_opa_port: number | null;
	readonly data_directory: string;
	/** `null` selects the embedded database under `data_directory`. */
	readonly database_url: string | null;
	/**
	 * The embedded database takes no writes while less than this is free on its disk, in bytes; 0 turns the check off.
	 */
	readonly min_free_bytes: number;
	/** True if the embedded database syncs each commit to disk. Otherwise a power cut may lose writes. */
	readonly embedded_fsync: boolean;
	/** The passphrase the server key is derived from; `null` keeps a random one in a file of `data_directory`. */
	readonly secret_key: string | null;
	/** The passphrase before a rotation. Secrets under it are read, and encrypted anew. */
	readonly secret_key_previous: string | null;
	/** The file of the private key that signs bundles, and the id that signatures name it by; a `null` file signs none. */
	readonly bundle_signing: { readonly key_path: string | null; readonly key_id: string };
	readonly pdp_api_key: string | null;
	/** The origin of the API a decision point follows; `null` is this machine's `api_port`. */
	readonly pdp_control_plane: string | null;
	/** How many processes answer. */
	readonly pdp_workers: number;
	/** `cloud` decision points evaluate no conditions. */
	readonly pdp_mode: 'edge' | 'cloud';
	/** How much processor time the answer to one request of a decision point may take, in seconds. */
	readonly pdp_budget: number;
	/** Where clients reach a decision point, without a slash at its end; `null` is where a request came to. */
	readonly pdp_public_url: string | null;
	/**
	 * Where the console asks decision points, with `{project}` and `{environment}` in place of their keys and without a slash
	 * at its end; `null` is the one of this process, if there is one.
	 */
	readonly console_pdp_url: string | null;
	/** The types of AuthZEN subjects that are users. */
	readonly pdp_subject_types: readonly string[];
	/** How long the answer to a write through a decision point waits until it is there, in seconds; negative: no limit. */
	readonly pdp_facts_wait: number;
	/** What happens to such an answer after that: it is sent all the same, or it is 424. */
	readonly pdp_facts_timeout_policy: 'ignore' | 'fail';
	/** The folder of the offline copy; `null` keeps none. */
	readonly pdp_offline_directory: string | null;
	/** The files of the public keys of which one has to have signed every bundle; empty verifies none. */
	readonly pdp_bundle_verification_key_paths: readonly string[];
	/** How old data may be to answer from, in seconds; `null` for any age. */
	readonly pdp_max_data_age: number | null;
	/** Where decisions are logged: `api`, `stdout`, `file:<path>`, or the URL of a collector; empty is nowhere. */
	readonly decision_log: readonly string[];
	/** The bearer token of a collector. */
	readonly decision_log_token: string | null;
	/** Which decisions are logged. */
	readonly decision_log_sampling: readonly SamplingRule[];
	/** The members of inputs that are not logged, as paths. */
	readonly decision_log_mask: readonly (readonly string[])[];
	/** How long the API keeps decisions, in days. */
	readonly audit_log_days: number;
	/** How much room kept decisions may take, in bytes. */
	readonly audit_log_bytes: number;
	/** What a process that compares states of an environment may take: seconds for an answer, and MiB of memory. */
	readonly impact: { readonly seconds: number; readonly memory: number };
	/** What decision points read for gateways; a path that is null is the usual one. */
	readonly gateways: {
		readonly kong: boolean;
		readonly kong_routes: string | null;
		readonly trino_rules: string | null;
		/** Whether Trino needs no key. */
		readonly open_trino: boolean;
	};
	/** Whether anyone may read the numbers of the API and of the decision point, at `/metrics`. */
	readonly open_metrics: { readonly api: boolean; readonly pdp: boolean };
	/** Whether webhooks may be at addresses of this machine and of private networks. */
	readonly webhook_allow_private: boolean;
	/** Whether the keys of users' tokens may be fetched from there. */
	readonly jwks_allow_private: boolean;
	readonly log_level: string;
	/** The opa executable; `null` is the one that set-up put in `.tools`, else that on PATH. */
	readonly opa_path: string | null;
	/** The folders that programs are looked for in, as PATH has them. */
	readonly search_path: string;
	/** Fixed secrets for the keys of the first organization, project and environment. */
	readonly bootstrap: {
		readonly organization: string | null;
		readonly project: string | null;
		readonly environment: string | null;
	};
}

/** Settings that are not valid: one sentence per variable, without its value, which may be a secret. */
export class ConfigError extends Error {
	override readonly name = 'ConfigError';
}

/** Reads the settings from `environment`, where an empty variable is an unset one. Throws `ConfigError`. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
	const set = Object.fromEntries(
		Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
	);
	const parsed = Settings.safeParse(set);
	if (!parsed.success) {
		const { issues } = parsed.error;
		// A value can be wrong in several ways; the first says enough.
		const first = issues.filter(({ path }, index) => issues.findIndex((other) => other.path[0] === path[0]) === index);
		throw new ConfigError(first.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'));
	}
	const settings = parsed.data;
	const secrets = [settings.BOOTSTRAP_ORG_API_KEY, settings.BOOTSTRAP_PROJECT_API_KEY, settings.BOOTSTRAP_ENV_API_KEY];
	const given = secrets.filter((value) => value !== undefined);
	if (new Set(given).size !== given.length)
		throw new ConfigError('BOOTSTRAP_*_API_KEY: each key needs a secret of its own');
	if (settings.SECRET_KEY !== undefined && settings.SECRET_KEY === settings.SECRET_KEY_PREVIOUS)
		throw new ConfigError('SECRET_KEY_PREVIOUS: must be another passphrase than SECRET_KEY');
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

/** Throws `ConfigError` when two of these ports, by setting, are one. Port 0 is another one each time; `null` is none. */
export function requireDistinctPorts(ports: Readonly<Record<string, number | null>>): void {
	const taken = new Map<number, string>();
	for (const [name, port] of Object.entries(ports)) {
		if (port === null || port === 0) continue;
		const other = taken.get(port);
		if (other !== undefined)
			throw new ConfigError(`${name}: ${port} is the port of ${other}: set one of them to another`);
		taken.set(port, name);
	}
}
