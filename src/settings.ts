import { z } from 'zod';

/**
 * Settings by topic: schema, default and description for each environment variable. A test generates `.env.example` and
 * `docs/operate/configuration.md` from this table (`test/docs/configuration.test.ts`).
 */

declare module 'zod' {
	interface GlobalMeta {
		/** Meaning if the variable is unset and has no default. */
		unset?: string;
		/** Example value. */
		sample?: string;
		/** Page with details, relative to `docs`. */
		page?: string;
	}
}

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

const publicUrl = z
	.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
	.refine(
		(value) => URL.canParse(value) && !/[?#]/.test(value) && new URL(value).username === '',
		'must have no user, query or fragment',
	)
	.transform((value) => new URL(value).href.replace(/\/+$/, ''));

/** Address template with `{project}` and `{environment}` as placeholders for keys. */
const addressTemplate = z
	.string()
	.refine((value) => {
		const address = value.replaceAll('{project}', 'p').replaceAll('{environment}', 'e');
		if (/[{}?#]/.test(address) || !URL.canParse(address)) return false;
		const { protocol, username, password } = new URL(address);
		return /^https?:$/.test(protocol) && username === '' && password === '';
	}, 'must be an http or https URL without user, query or fragment; it may contain `{project}` and `{environment}`')
	.transform((value) => value.replace(/\/+$/, ''));

const seconds = z.coerce.number({ error: 'must be a number of seconds' });
const mebibytes = z.coerce.number({ error: 'must be a number of MiB' }).int('must be a whole number of MiB');

const flag = z
	.enum(['true', 'false'], { error: 'must be `true` or `false`' })
	.default('false')
	.transform((value) => value === 'true');

function splitList(text: string): readonly string[] {
	return text
		.split(',')
		.map((part) => part.trim())
		.filter((part) => part !== '');
}

/** Maximum number of verification keys. The number is limited because each key is tried. */
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

/**
 * Logs a share of the decisions that match all fields of the rule. `rate` is the share, from 0 to 1.
 */
export type SamplingRule = z.output<typeof SamplingRule>;

const listening = {
	HOST: z
		.string()
		.default('127.0.0.1')
		.describe('Address to listen on. `0.0.0.0` makes the servers reachable from other machines.'),
	API_PORT: port.default(8000).describe('Port of the API (`regolith start`, `regolith serve`). 0 picks a free port.'),
	PDP_PORT: port
		.default(7766)
		.describe('Port of the decision point (`regolith start`, `regolith pdp`). 0 picks a free port.'),
	PDP_OPA_PORT: port.optional().meta({
		description: "Second port of the decision point, for clients of OPA's Data API. OPA itself listens on 8181.",
		unset: 'none',
	}),
};

const storage = {
	DATA_DIR: z
		.string()
		.default('./data')
		.describe('Folder of the embedded database, the server key and the bundles. Only one process may use it.'),
	DATABASE_URL: z
		.string()
		.regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
		.refine((value) => URL.canParse(value), 'must be a URL: postgres://user:password@host:port/database')
		.optional()
		.meta({
			description: 'PostgreSQL server. Several API processes may share one.',
			unset: 'the embedded database',
			sample: 'postgres://user:password@localhost:5432/regolith',
		}),
	MIN_FREE_DISK: mebibytes
		.min(0, 'must be at least 0')
		.default(256)
		.describe(
			'Disk space in MiB to keep free for the embedded database. With less free space, writes are ' +
				'rejected (507); reads and decisions continue. The embedded PostgreSQL fails if it cannot write ' +
				'its log, so reserve more than other programs write within seconds. Reads may also need space, so the ' +
				'server starts only if at least a quarter of this space is free. 0 turns the check off.',
		),
	EMBEDDED_FSYNC: flag.meta({
		description:
			'Syncs each commit of the embedded database to disk before the response. Without it, commits survive a killed ' +
			'process, but a power cut or a kernel panic may lose the writes of the last half minute or so, and in the ' +
			'worst case leave a database that no longer opens. With it, writes are slower.',
		page: 'contribute/store.md#a-power-cut',
	}),
	SECRET_KEY: passphrase.meta({
		description:
			'Passphrase that encrypts API keys and proxy config secrets at rest: at least 32 characters, the same for all ' +
			'processes on one database.',
		unset: 'a random key in a file in `DATA_DIR`, readable by its owner only',
		sample: '$(openssl rand -base64 33)',
	}),
	SECRET_KEY_PREVIOUS: passphrase.meta({
		description:
			'Passphrase before a rotation of `SECRET_KEY`. Secrets encrypted with this passphrase are decrypted and ' +
			'encrypted again with `SECRET_KEY`.',
		unset: 'none',
		page: 'operate/operation.md#key-rotation',
	}),
	BUNDLE_SIGNING_KEY_PATH: z
		.string()
		.optional()
		.meta({
			description:
				'PEM file with the private key for bundle signatures: P-256, P-384, P-521 or RSA. A stock OPA ' +
				'rejects signed bundles without the matching public key.',
			unset: 'bundles are not signed',
			page: 'contribute/decision-point.md#signatures',
		}),
	BUNDLE_SIGNING_KEY_ID: z
		.string()
		.max(256, 'must have at most 256 characters')
		.default('default')
		.describe('Id of the signing key in signatures.'),
};

const decisionPoint = {
	PDP_API_KEY: secret.meta({
		description:
			'API key of the environment to decide for; required by `regolith pdp`. If the API rejects the key at ' +
			'startup, the process exits with code 3, or retries with `--wait`.',
		unset: '`regolith start` serves `dev`',
	}),
	PDP_CONTROL_PLANE: origin.optional().meta({
		description:
			'API that `regolith pdp` follows: scheme, host and port. `regolith start` follows its own API, or a ' +
			'different API if `PDP_API_KEY` is also set.',
		unset: "this machine's `API_PORT`",
		sample: 'http://localhost:8000',
	}),
	PDP_MODE: z
		.enum(['edge', 'cloud'], { error: 'must be `edge` or `cloud`' })
		.default('edge')
		.describe(
			'Location of the decision point: `edge`, next to the application, or `cloud`, shared and without condition sets. ' +
				'A `cloud` decision point denies access that only condition sets grant, with the code ' +
				'`cloud_pdp_not_supporting_abac`.',
		),
	PDP_WORKERS: z.coerce
		.number({ error: 'must be a number of processes' })
		.int('must be a whole number')
		.min(1, 'must be at least 1')
		.max(64, 'must be at most 64')
		.default(1)
		.meta({
			description:
				'Number of processes that serve checks. Each holds the whole environment, so use as many as you ' +
				'have spare processors.',
			page: 'contribute/decision-point.md#workers',
		}),
	PDP_BUDGET: seconds
		.positive('must be greater than 0')
		.max(3600, 'must be at most 3600')
		.default(10)
		.describe(
			'Maximum CPU time in seconds for one request, such as a long listing or a bulk check. Longer requests return 503.',
		),
	PDP_PUBLIC_URL: publicUrl.optional().meta({
		description: 'Public URL of the decision point in its AuthZEN metadata: scheme, host, port and path.',
		unset: 'taken from each request (`Host` and `X-Forwarded-Proto`)',
		sample: 'https://pdp.example.com',
	}),
	PDP_SUBJECT_TYPES: z
		.string()
		.default('user,identity')
		.transform(splitList)
		.describe(
			'AuthZEN subject types that are users, separated by commas. All types share the user keys. Subjects of other types ' +
				'are denied.',
		),
	PDP_LOCAL_FACTS_WAIT_TIMEOUT: seconds
		.default(10)
		.describe(
			'Maximum time in seconds that a write through `/facts` waits until checks see it. With 0, it does ' +
				'not wait; with a negative number, it waits without limit. The header `X-Wait-Timeout` overrides it.',
		),
	PDP_LOCAL_FACTS_TIMEOUT_POLICY: z
		.enum(['ignore', 'fail'], { error: 'must be `ignore` or `fail`' })
		.default('ignore')
		.describe(
			'Response to a write through `/facts` that checks do not see within `PDP_LOCAL_FACTS_WAIT_TIMEOUT`: `ignore` ' +
				'sends the normal response, `fail` sends 424. The header `X-Timeout-Policy` overrides it.',
		),
	PDP_ENABLE_OFFLINE_MODE: flag.meta({
		description:
			'Keep a copy of the environment, encrypted under its API key, to start from while the control plane is unreachable.',
		page: 'contribute/decision-point.md#without-a-control-plane',
	}),
	PDP_OFFLINE_MODE_BACKUP_DIR: z
		.string()
		.optional()
		.meta({ description: 'Folder of the offline copy.', unset: '`offline` in `DATA_DIR`' }),
	PDP_BUNDLE_VERIFICATION_KEY_PATHS: z
		.string()
		.default('')
		.transform(splitList)
		.refine((paths) => paths.length <= maxVerificationKeys, `must list at most ${maxVerificationKeys} files`)
		.meta({
			description: `PEM files with public keys, separated by commas, at most ${maxVerificationKeys}. Bundles must be signed with one of the keys.`,
			unset: 'signatures are not verified',
		}),
	PDP_MAX_DATA_AGE: seconds
		.positive('must be greater than 0')
		.optional()
		.meta({
			description:
				'Maximum age of the data in seconds, measured since the control plane last confirmed it. If the ' +
				'data is older, every check is denied with the code `data_outdated`.',
			unset: 'no limit',
		}),
};

const decisionLog = {
	PDP_DECISION_LOG: z
		.string()
		.default('api')
		.transform((text) => text.split(',').map((part) => part.trim()))
		.refine(
			(places) => places.every((place) => /^(off|api|stdout|file:.+|https?:\/\/.+)$/.test(place)),
			'must be `off`, or a comma-separated list of `api`, `stdout`, `file:<path>` and collector URLs',
		)
		.meta({
			description:
				'Destinations of the decision log, separated by commas: `api` (the log in the API), `stdout`, `file:<path>`, or ' +
				'the URL of an HTTP collector. `off` disables the log.',
			page: 'operate/decision-log.md',
		}),
	PDP_DECISION_LOG_TOKEN: z.string().optional().meta({ description: 'Bearer token for the collector.', unset: 'none' }),
	PDP_DECISION_LOG_SAMPLING: z
		.string()
		.default('[{"allow":true,"rate":0.1}]')
		.transform((text, ctx) => {
			try {
				return JSON.parse(text) as unknown;
			} catch {
				ctx.addIssue({ code: 'custom', message: 'must be a JSON array of rules' });
				return z.NEVER;
			}
		})
		.pipe(z.array(SamplingRule))
		.describe(
			'Share of decisions to log: a JSON array of rules. The first matching rule applies; decisions without a matching ' +
				'rule are logged. A rule has any of `allow`, `code`, `user`, `action`, `resource_type` and ' +
				'`tenant`, and a `rate` from 0 to 1.',
		),
	PDP_DECISION_LOG_MASK: z
		.string()
		.default('')
		.transform((text) => splitList(text).map((path) => path.split('.')))
		.meta({
			description: 'Input fields to omit from the log, separated by commas.',
			unset: 'none',
			sample: 'user.attributes.ssn,context.token',
		}),
	AUDIT_LOG_DAYS: z.coerce
		.number({ error: 'must be a number of days' })
		.int('must be a whole number of days')
		.min(1, 'must be at least 1')
		.max(3650, 'must be at most 3650')
		.default(7)
		.describe('Retention of decisions in the API, in days.'),
	AUDIT_LOG_MAX_SIZE: mebibytes.min(1, 'must be at least 1').default(1024).meta({
		description: 'Maximum size of the stored decisions of all environments, in MiB.',
		page: 'operate/decision-log.md#storage-limits',
	}),
};

const impact = {
	IMPACT_TIMEOUT: seconds
		.min(1, 'must be at least 1')
		.max(600, 'must be at most 600')
		.default(20)
		.meta({ description: 'Time limit of an impact analysis, in seconds.', page: 'policy/impact.md' }),
	IMPACT_MEMORY: mebibytes
		.min(128, 'must be at least 128')
		.default(2048)
		.describe('Memory limit of an impact analysis, in MiB.'),
};

const gateways = {
	PDP_KONG_INTEGRATION: flag.meta({ description: 'Serve Kong.', page: 'operate/gateways.md#kong' }),
	PDP_KONG_ROUTES_PATH: z.string().optional().meta({
		description: "File with Kong's routes: a JSON list of `[expression, resource or group number]`.",
		unset: '`/config/kong_routes.json`',
	}),
	PDP_TRINO_AUTHZ_CONFIG_PATH: z.string().optional().meta({
		description: 'YAML file with row filters and column masks for Trino.',
		unset: '`/app/config/trino-authz.yaml`, if it exists',
		page: 'operate/gateways.md#trino',
	}),
	PDP_ALLOW_UNAUTHENTICATED_TRINO: flag.describe(
		'Serve Trino without a key. Anyone who can reach the port can then read the permissions in Trino.',
	),
};

const consoleSettings = {
	CONSOLE_PDP_URL: addressTemplate.optional().meta({
		description:
			'URL of the decision points that the console uses. `{project}` and `{environment}` are placeholders for keys.',
		unset: '`regolith start` uses its own decision point, `regolith serve` none',
		sample: 'http://pdp-{environment}.internal:7766',
		page: 'policy/console.md#decision-points',
	}),
};

const addresses = {
	WEBHOOK_ALLOW_PRIVATE: flag.describe(
		'Allow webhooks of elements to reach this machine and private networks (loopback, link-local, private and other ' +
			'ranges that are not public). Anyone with write access to an environment can then cause this process ' +
			'to call these addresses.',
	),
	JWKS_ALLOW_PRIVATE: flag.describe(
		'Allow downloads of verification keys (`jwks.url` of an environment) from this machine and private networks, ' +
			'for an identity provider in a private network.',
	),
};

const automation = {
	BOOTSTRAP_ORG_API_KEY: secret.meta({
		description:
			'Fixed secret of the organization key that the first start creates. It begins with `permit_key_` and has at least ' +
			'97 characters. Each key must have a different secret.',
		unset: 'random',
		sample: '$(echo "permit_key_$(openssl rand -hex 43)")',
	}),
	BOOTSTRAP_PROJECT_API_KEY: secret.meta({
		description: 'Fixed secret of the key for the project `default`, in the same format.',
		unset: 'random',
	}),
	BOOTSTRAP_ENV_API_KEY: secret.meta({
		description: 'Fixed secret of the key for the environment `dev`, in the same format.',
		unset: 'random',
	}),
};

const operation = {
	LOG_LEVEL: z
		.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
			error: 'must be `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
		})
		.default('info')
		.describe(
			'Least severe level to log: one JSON object per line, on standard error. `debug` also logs each decision.',
		),
	API_ALLOW_METRICS_UNAUTHENTICATED: flag.meta({
		description:
			'Serve `/metrics` of the API without a key; otherwise it requires an organization key. Metrics ' +
			'contain no tenants, users or resources.',
		page: 'operate/operation.md',
	}),
	PDP_ALLOW_METRICS_UNAUTHENTICATED: flag.describe(
		'Serve `/metrics` of the decision point without a key; otherwise it requires the key of the decision point.',
	),
	OPA_PATH: z.string().optional().meta({
		description: 'The `opa` program that compiles policies, version 1.22 or a newer 1.x. Older versions are rejected.',
		unset: 'the program that setup builds in `.tools`, or else the first recent `opa` on `PATH`',
		sample: '/usr/local/bin/opa',
	}),
};

/** Documented settings by topic, in the order shown on the page. */
export const settingTopics = {
	'Listen addresses': listening,
	Storage: storage,
	'Decision point': decisionPoint,
	'Decision log': decisionLog,
	'Impact analysis': impact,
	Gateways: gateways,
	Console: consoleSettings,
	'Private addresses': addresses,
	Automation: automation,
	Operation: operation,
};

/** All environment variables the program reads. */
export const Settings = z.object({
	...listening,
	...storage,
	...decisionPoint,
	...decisionLog,
	...impact,
	...gateways,
	...consoleSettings,
	...addresses,
	...automation,
	...operation,
	PATH: z.string().default(''),
});
