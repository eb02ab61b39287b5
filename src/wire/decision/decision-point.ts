import { z } from 'zod';
import { AlwaysNull, Attributes, optional, StoredObject, Text, Timestamp, Uuid } from '../common.js';
import { named } from '../named.js';

export const PdpConfigRead = named(
	'PDPConfigRead',
	'A PDP config: an API key for the decision points of an environment, with their settings. `client_secret` is the key.',
	{
		id: Uuid.describe('Config id, equal to its API key id.'),
		organization_id: Uuid.describe('Organization id.'),
		project_id: Uuid.describe('Project id.'),
		environment_id: Uuid.describe('Environment id for its decision points.'),
		client_secret: z.string().describe('Decision point API key.'),
		name: z.string().nullable().describe('Display name.'),
		opal_server_access_token: AlwaysNull,
		num_shards: AlwaysNull,
		debug_audit_logs: z.boolean().describe('Stored and returned for clients that set it; has no effect.'),
		min_pdp_version: AlwaysNull,
	},
);
export type PdpConfigRead = z.input<typeof PdpConfigRead>;

export const PdpRefresh = named('PDPRefresh', 'A request to decision points to fetch a new snapshot.', {
	reason: optional(Text.max(512)).describe('Reason for the refresh, up to 512 characters, kept in the history.'),
}).optional();

export const PdpRefreshRead = named('PDPRefreshRead', 'A requested decision point refresh.', {
	update_id: Uuid.describe('Id that decision points log and report after they have fetched the snapshot.'),
	pdp_ids: z.array(Uuid).describe('PDP configs whose decision points were notified.'),
});

const Url = z.string();

export const RemoteConfig = named(
	'RemoteConfig',
	'Decision point settings. `context` describes the environment and `feed` the bundle sources. ' +
		'All other sections exist only for compatibility with the contract.',
	{
		opal_common: z
			.object({
				AUTH_PUBLIC_KEY: z.string().default('').describe('Always empty.'),
				FETCHING_CALLBACK_TIMEOUT: z.int().default(60).describe('Always 60.'),
			})
			.describe('Fixed values, kept for compatibility.'),
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
			.describe('Fixed values, kept for compatibility.'),
		pdp: z
			.object({
				BACKEND_SERVICE_URL: Url.describe('API URL.'),
				OPA_DECISION_LOG_ENABLED: z
					.boolean()
					.default(false)
					.describe('Always false: decision points configure logging in their own settings.'),
				OPA_DECISION_LOG_INGRESS_ROUTE: z.string().default('').describe('Always empty.'),
				OPA_DECISION_LOG_INGRESS_BACKEND_TIER_URL: Url.default('').describe('Always empty.'),
				CONTROL_PLANE_RELAY_JWT_TIER: Url.default('').describe('Always empty.'),
				CONTROL_PLANE_RELAY_API: Url.default('').describe('Always empty.'),
				CONTROL_PLANE_PDP_DELTAS_API: Url.default('').describe('Always empty.'),
				FACTDB_ENABLED: z.boolean().default(false).describe('Always false.'),
				FACTDB_BACKUP_SERVER_URL: Url.default('').describe('Always empty.'),
			})
			.describe('Decision point settings, as defined by the contract.'),
		context: z
			.object({
				customer_id: Uuid.describe('Organization id.'),
				client_id: Uuid.describe('Id of the calling API key.'),
				backend_tier: Url.describe('API URL.'),
				component: z.string().default('sidecar').describe('Always `sidecar`.'),
				org_id: Uuid.describe('Organization id.'),
				project_id: Uuid.describe('Project id.'),
				env_id: Uuid.describe('Environment id.'),
			})
			.describe('Scope of the calling key.'),
		feed: z
			.object({
				BUNDLE_URL: Url.describe('Bundle URL for decision points.'),
				REGO_BUNDLE_URL: Url.describe('Bundle URL for a stock OPA.'),
				DEBUG_AUDIT_LOGS: z.boolean().describe("The config's `debug_audit_logs`."),
			})
			.describe('Bundle sources for the environment.'),
	},
);
export type RemoteConfig = z.input<typeof RemoteConfig>;

/** Fields that Regolith decision points report in their state. Other decision points may report different fields. */
const saidText =
	'A Regolith decision point reports its health as in `GET /healthy`, and in `pdp` its `version`, its `mode` (`edge`, or ' +
	'`cloud` if it evaluates no condition sets), `checks_per_second` (decided by all workers since its last report), its ' +
	'`workers` if there are several, and the state of its `decision_log`. `clock_ahead_seconds` is present if its clock ' +
	'differs by more than a minute. Any field may be missing.';

/** Maximum size for a decision point's state, as JSON text. */
const maxStateLength = 16_384;

export const PdpStateUpdate = named('PDPStateUpdate', 'The state reported by a decision point.', {
	pdp_instance_id: Text.min(1).max(512).describe('Decision point name that survives a restart.'),
	state: Attributes.refine(
		(state) => (JSON.stringify(state) ?? '').length <= maxStateLength,
		`must be at most ${maxStateLength} characters of JSON`,
	).describe(`Reported state: any object of at most 16,384 characters as JSON. ${saidText}`),
});
export type PdpStateUpdate = z.output<typeof PdpStateUpdate>;

/** Like `PdpStateUpdate`, for a decision point that has no state to report yet. */
export const PdpConfigRequest = z
	.object({
		pdp_instance_id: optional(PdpStateUpdate.shape.pdp_instance_id).describe(
			'Decision point name that survives a restart.',
		),
		state: optional(PdpStateUpdate.shape.state).describe(
			'Reported state: any object of at most 16,384 characters as JSON.',
		),
	})
	.describe('Decision point state, if any.');

export const PdpInstanceRead = named('PDPInstanceRead', 'A decision point that has reported its state.', {
	pdp_instance_id: z.string().describe('Reported decision point name.'),
	api_key_id: Uuid.describe('Id of the API key used to report, equal to the config id.'),
	environment_id: Uuid.describe('Id of the environment that it serves.'),
	state: StoredObject.describe(`Last reported state. ${saidText}`),
	first_seen_at: Timestamp.describe('First report, in UTC.'),
	last_seen_at: Timestamp.describe('Last report, in UTC.'),
});
