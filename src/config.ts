import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';

/** The only reader of `process.env`: every setting, validated, with its default. `.env.example` documents each. */

const port = z.coerce
	.number({ error: 'must be a port number' })
	.int('must be a whole number')
	.min(0, 'must be at least 0')
	.max(65535, 'must be at most 65535');

const secret = z
	.string()
	.regex(/^permit_key_[A-Za-z0-9_-]+$/, 'must begin with `permit_key_` and contain only A-Z a-z 0-9 _ -')
	.min(97, 'must have at least 97 characters: a part of the key is missing')
	.optional();

const passphrase = z.string().min(32, 'must have at least 32 characters').optional();

const origin = z
	.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
	.refine(
		(value) => URL.canParse(value) && /^\/?$/.test(new URL(value).pathname),
		'must be an origin: no path after the port',
	)
	.transform((value) => new URL(value).origin);

/** How many keys may verify bundles: each is tried. */
const maxVerificationKeys = 10;

const exactly = z.string().optional();

const SamplingRule = z.strictObject({
	allow: z.boolean().optional(),
	code: exactly,
	user: exactly,
	action: exactly,
	resource_type: exactly,
	tenant: exactly,
	rate: z.number().min(0, 'must be from 0 to 1').max(1, 'must be from 0 to 1'),
});

/** Matches decisions that have all that it names; of these `rate` are logged, from 0, none, to 1, all. */
export type SamplingRule = z.output<typeof SamplingRule>;

/** All denials, and one in ten of what is allowed. */
const defaultSampling: readonly SamplingRule[] = [{ allow: true, rate: 0.1 }];
const publicUrl = z
	.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
	.refine(
		(value) => URL.canParse(value) && !/[?#]/.test(value) && new URL(value).username === '',
		'must have no user, query or fragment',
	)
	.transform((value) => new URL(value).href.replace(/\/+$/, ''));

/** An address with `{project}` and `{environment}` in place of their keys. */
const addressTemplate = z
	.string()
	.refine((value) => {
		const address = value.replaceAll('{project}', 'p').replaceAll('{environment}', 'e');
		if (/[{}?#]/.test(address) || !URL.canParse(address)) return false;
		const { protocol, username, password } = new URL(address);
		return /^https?:$/.test(protocol) && username === '' && password === '';
	}, 'must be an http or https URL without user, query or fragment; `{project}` and `{environment}` may stand in it')
	.transform((value) => value.replace(/\/+$/, ''));

const flag = z
	.enum(['true', 'false'], { error: 'must be `true` or `false`' })
	.default('false')
	.transform((value) => value === 'true');

const Settings = z.object({
	API_PORT: port.default(8000),
	PDP_PORT: port.default(7766),
	PDP_OPA_PORT: port.optional(),
	HOST: z.string().default('127.0.0.1'),
	DATA_DIR: z.string().default('./data'),
	DATABASE_URL: z
		.string()
		.regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
		.refine((value) => URL.canParse(value), 'must be a URL: postgres://user:password@host:port/database')
		.optional(),
	MIN_FREE_DISK: z.coerce
		.number({ error: 'must be a number of MiB' })
		.int('must be a whole number of MiB')
		.min(0, 'must be at least 0')
		.default(256),
	EMBEDDED_FSYNC: flag,
	BUNDLE_SIGNING_KEY_PATH: z.string().optional(),
	BUNDLE_SIGNING_KEY_ID: z.string().max(256, 'must have at most 256 characters').default('default'),
	SECRET_KEY: passphrase,
	SECRET_KEY_PREVIOUS: passphrase,
	PDP_API_KEY: secret,
	PDP_CONTROL_PLANE: origin.optional(),
	PDP_WORKERS: z.coerce
		.number({ error: 'must be a number of processes' })
		.int('must be a whole number')
		.min(1, 'must be at least 1')
		.max(64, 'must be at most 64')
		.default(1),
	PDP_MODE: z.enum(['edge', 'cloud'], { error: 'must be `edge` or `cloud`' }).default('edge'),
	PDP_BUDGET: z.coerce
		.number({ error: 'must be a number of seconds' })
		.positive('must be greater than 0')
		.max(3600, 'must be at most 3600')
		.default(10),
	PDP_PUBLIC_URL: publicUrl.optional(),
	CONSOLE_PDP_URL: addressTemplate.optional(),
	PDP_SUBJECT_TYPES: z
		.string()
		.default('user,identity')
		.transform((value) =>
			value
				.split(',')
				.map((type) => type.trim())
				.filter(Boolean),
		),
	PDP_LOCAL_FACTS_WAIT_TIMEOUT: z.coerce.number({ error: 'must be a number of seconds' }).default(10),
	PDP_LOCAL_FACTS_TIMEOUT_POLICY: z.enum(['ignore', 'fail'], { error: 'must be `ignore` or `fail`' }).default('ignore'),
	PDP_ENABLE_OFFLINE_MODE: flag,
	PDP_OFFLINE_MODE_BACKUP_DIR: z.string().optional(),
	PDP_BUNDLE_VERIFICATION_KEY_PATHS: z
		.string()
		.default('')
		.transform((text) => text.split(',').map((path) => path.trim()))
		.transform((paths) => paths.filter((path) => path !== ''))
		.refine((paths) => paths.length <= maxVerificationKeys, `must name at most ${maxVerificationKeys} files`),
	PDP_MAX_DATA_AGE: z.coerce
		.number({ error: 'must be a number of seconds' })
		.positive('must be greater than 0')
		.optional(),
	PDP_DECISION_LOG: z
		.string()
		.default('api')
		.transform((text) => text.split(',').map((part) => part.trim()))
		.refine(
			(places) => places.every((place) => /^(off|api|stdout|file:.+|https?:\/\/.+)$/.test(place)),
			'must be `off`, or some of `api`, `stdout`, `file:<path>` and a URL, separated by commas',
		),
	PDP_DECISION_LOG_TOKEN: z.string().optional(),
	PDP_DECISION_LOG_SAMPLING: z
		.string()
		.transform((text, ctx) => {
			try {
				return JSON.parse(text) as unknown;
			} catch {
				ctx.addIssue({ code: 'custom', message: 'must be a JSON array of rules' });
				return z.NEVER;
			}
		})
		.pipe(z.array(SamplingRule))
		.optional(),
	PDP_DECISION_LOG_MASK: z
		.string()
		.default('')
		.transform((text) => text.split(',').map((path) => path.trim()))
		.transform((paths) => paths.filter((path) => path !== '').map((path) => path.split('.'))),
	AUDIT_LOG_DAYS: z.coerce
		.number({ error: 'must be a number of days' })
		.int('must be a whole number of days')
		.min(1, 'must be at least 1')
		.max(3650, 'must be at most 3650')
		.default(7),
	AUDIT_LOG_MAX_SIZE: z.coerce
		.number({ error: 'must be a number of MiB' })
		.int('must be a whole number of MiB')
		.min(1, 'must be at least 1')
		.default(1024),
	IMPACT_TIMEOUT: z.coerce
		.number({ error: 'must be a number of seconds' })
		.min(1, 'must be at least 1')
		.max(600, 'must be at most 600')
		.default(20),
	IMPACT_MEMORY: z.coerce
		.number({ error: 'must be a number of MiB' })
		.int('must be a whole number of MiB')
		.min(128, 'must be at least 128')
		.default(2048),
	API_ALLOW_METRICS_UNAUTHENTICATED: flag,
	PDP_ALLOW_METRICS_UNAUTHENTICATED: flag,
	PDP_KONG_INTEGRATION: flag,
	PDP_KONG_ROUTES_PATH: z.string().optional(),
	PDP_TRINO_AUTHZ_CONFIG_PATH: z.string().optional(),
	PDP_ALLOW_UNAUTHENTICATED_TRINO: flag,
	WEBHOOK_ALLOW_PRIVATE: flag,
	JWKS_ALLOW_PRIVATE: flag,
	LOG_LEVEL: z
		.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
			error: 'must be `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
		})
		.default('info'),
	OPA_PATH: z.string().optional(),
	PATH: z.string().default(''),
	BOOTSTRAP_ORG_API_KEY: secret,
	BOOTSTRAP_PROJECT_API_KEY: secret,
	BOOTSTRAP_ENV_API_KEY: secret,
});

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
	/** True if the embedded database syncs each commit to disk. Otherwise a power cut may cost writes. */
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
		decision_log_sampling: settings.PDP_DECISION_LOG_SAMPLING ?? defaultSampling,
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
