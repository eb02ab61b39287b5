import { z } from 'zod';
import { AlwaysNull, Attributes, optional, StoredObject, Text, Timestamp, Uuid } from '../common.js';

/**
 * A PDP config: the settings of the decision points of an environment that share an API key. `client_secret` is that
 * key.
 */
export const PdpConfigRead = z
	.object({
		id: Uuid.describe('The id of the config, which is that of its API key.'),
		organization_id: Uuid.describe('The id of the organization.'),
		project_id: Uuid.describe('The id of the project.'),
		environment_id: Uuid.describe('The id of the environment that its decision points serve.'),
		client_secret: z.string().describe('The API key of the decision points.'),
		name: z.string().nullable().describe('A name to know the config by.'),
		opal_server_access_token: AlwaysNull,
		num_shards: AlwaysNull,
		debug_audit_logs: z.boolean().describe('Stored and shown for clients that set it; changes nothing.'),
		min_pdp_version: AlwaysNull,
	})
	.meta({
		id: 'PDPConfigRead',
		description:
			'A PDP config: the settings of the decision points of an environment that share an API key. ' +
			'`client_secret` is that key.',
	});
export type PdpConfigRead = z.input<typeof PdpConfigRead>;

/** A request to decision points to take a fresh snapshot. */
export const PdpRefresh = z
	.object({ reason: optional(Text.max(512)).describe('Why: up to 512 characters, for the history.') })
	.meta({ id: 'PDPRefresh', description: 'A request to decision points to take a fresh snapshot.' })
	.optional();

/** The refresh that decision points were asked for. */
export const PdpRefreshRead = z
	.object({
		update_id: Uuid.describe('The id that decision points log and report once they have taken the snapshot.'),
		pdp_ids: z.array(Uuid).describe('The PDP configs whose decision points were asked.'),
	})
	.meta({ id: 'PDPRefreshRead', description: 'The refresh that decision points were asked for.' });

const Url = z.string();

/**
 * The settings of a decision point. `context` says what it serves and `feed` where its bundles come from. The rest is
 * part of the contract, and empty for components that this service does not have.
 */
export const RemoteConfig = z
	.object({
		opal_common: z
			.object({
				AUTH_PUBLIC_KEY: z.string().default('').describe('Always empty.'),
				FETCHING_CALLBACK_TIMEOUT: z.int().default(60).describe('Always 60.'),
			})
			.describe('Empty: for components that this service does not have.'),
		opal_client: z
			.object({
				DATA_TOPICS: z.array(z.string()).default([]).describe('Always empty.'),
				CLIENT_TOKEN: z.string().default('').describe('Always empty.'),
				SERVER_URL: Url.default('').describe('Always empty.'),
				SERVER_WS_URL: Url.default('').describe('Always empty.'),
				SERVER_PUBSUB_URL: Url.default('').describe('Always empty.'),
				DEFAULT_DATA_SOURCES_CONFIG_URL: Url.default('').describe('Always empty.'),
				SCOPE_ID: z.string().nullable().default(null).describe('Always null.'),
				SHOULD_REPORT_ON_DATA_UPDATES: z.boolean().default(false).describe('Always false.'),
				DEFAULT_UPDATE_CALLBACKS: z
					.object({ callbacks: z.array(z.string()).default([]).describe('Always empty.') })
					.prefault({})
					.describe('Empty: data updates are not reported.'),
			})
			.describe('Empty: for components that this service does not have.'),
		pdp: z
			.object({
				BACKEND_SERVICE_URL: Url.describe('The address of this API.'),
				OPA_DECISION_LOG_ENABLED: z
					.boolean()
					.default(false)
					.describe('Always false: decision points are told by their own settings where to log.'),
				OPA_DECISION_LOG_INGRESS_ROUTE: z.string().default('').describe('Always empty.'),
				OPA_DECISION_LOG_INGRESS_BACKEND_TIER_URL: Url.default('').describe('Always empty.'),
				CONTROL_PLANE_RELAY_JWT_TIER: Url.default('').describe('Always empty.'),
				CONTROL_PLANE_RELAY_API: Url.default('').describe('Always empty.'),
				CONTROL_PLANE_PDP_DELTAS_API: Url.default('').describe('Always empty.'),
				FACTDB_ENABLED: z.boolean().default(false).describe('Always false.'),
				FACTDB_BACKUP_SERVER_URL: Url.default('').describe('Always empty.'),
			})
			.describe('What a decision point of the contract is configured with.'),
		context: z
			.object({
				customer_id: Uuid.describe('The id of the organization.'),
				client_id: Uuid.describe('The id of the calling API key.'),
				backend_tier: Url.describe('The address of this API.'),
				component: z.string().default('sidecar').describe('Always `sidecar`.'),
				org_id: Uuid.describe('The id of the organization.'),
				project_id: Uuid.describe('The id of the project.'),
				env_id: Uuid.describe('The id of the environment.'),
			})
			.describe('What the calling key opens.'),
		feed: z
			.object({
				BUNDLE_URL: Url.describe('The address of the bundle for decision points.'),
				REGO_BUNDLE_URL: Url.describe('The address of the bundle for a stock OPA.'),
				DEBUG_AUDIT_LOGS: z.boolean().describe("The config's `debug_audit_logs`."),
			})
			.describe('Where the bundles of the environment are.'),
	})
	.meta({
		id: 'RemoteConfig',
		description:
			'The settings of a decision point. `context` says what it serves and `feed` where its bundles come from. ' +
			'The rest is part of the contract, and empty for components that this service does not have.',
	});
export type RemoteConfig = z.input<typeof RemoteConfig>;

/** What decision points of Regolith say in their state; others may say anything. */
const saidText =
	'One of Regolith says how it is as `GET /healthy` does, and in `pdp` its `version`, its `mode` (`edge`, or `cloud` where ' +
	'it evaluates no condition sets), `checks_per_second` (checks decided a second since its last report, by all workers), ' +
	'its `workers` where there are several, and what became of its `decision_log`. `clock_ahead_seconds` tells that its clock ' +
	'differs by more than a minute. Any of these may be missing.';

/** How large the state of a decision point may be, as JSON text. */
const maxStateLength = 16_384;

/** What a decision point reports about itself. */
export const PdpStateUpdate = z
	.object({
		pdp_instance_id: Text.min(1).max(512).describe('A name of the decision point that survives a restart.'),
		state: Attributes.refine(
			(state) => (JSON.stringify(state) ?? '').length <= maxStateLength,
			`must be at most ${maxStateLength} characters of JSON`,
		).describe(`What it says of itself: any object of at most 16,384 characters of JSON. ${saidText}`),
	})
	.meta({ id: 'PDPStateUpdate', description: 'What a decision point reports about itself.' });
export type PdpStateUpdate = z.output<typeof PdpStateUpdate>;

/** The same for a decision point that need not report anything yet. */
export const PdpConfigRequest = z
	.object({
		pdp_instance_id: optional(PdpStateUpdate.shape.pdp_instance_id).describe(
			'A name of the decision point that survives a restart.',
		),
		state: optional(PdpStateUpdate.shape.state).describe(
			'What it says of itself: any object of at most 16,384 characters of JSON.',
		),
	})
	.describe('The state of a decision point, if it has any to report.');

/** A decision point that has reported its state. */
export const PdpInstanceRead = z
	.object({
		pdp_instance_id: z.string().describe('The name by which it reported.'),
		api_key_id: Uuid.describe('The API key that it reported with: the id of its config.'),
		environment_id: Uuid.describe('The id of the environment that it serves.'),
		state: StoredObject.describe(`What it said of itself last. ${saidText}`),
		first_seen_at: Timestamp.describe('When it reported for the first time, in UTC.'),
		last_seen_at: Timestamp.describe('When it reported last, in UTC.'),
	})
	.meta({ id: 'PDPInstanceRead', description: 'A decision point that has reported its state.' });
export type PdpInstanceRead = z.input<typeof PdpInstanceRead>;
