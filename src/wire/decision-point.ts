import { z } from 'zod';
import { AlwaysNull, Attributes, optional, StoredObject, Text, Timestamp, Uuid } from './common.js';

/**
 * A PDP config: the settings of the decision points of an environment that share an API key. `client_secret` is that
 * key.
 */
export const PdpConfigRead = z
	.object({
		id: Uuid,
		organization_id: Uuid,
		project_id: Uuid,
		environment_id: Uuid,
		client_secret: z.string(),
		name: z.string().nullable(),
		opal_server_access_token: AlwaysNull,
		num_shards: AlwaysNull,
		debug_audit_logs: z.boolean(),
		min_pdp_version: AlwaysNull,
	})
	.meta({ id: 'PDPConfigRead' });
export type PdpConfigRead = z.input<typeof PdpConfigRead>;

const Url = z.string();

/**
 * The settings of a decision point. `context` says what it serves and `feed` where its bundles come from. The rest is
 * part of the contract, and empty for components that this service does not have.
 */
export const RemoteConfig = z
	.object({
		opal_common: z.object({ AUTH_PUBLIC_KEY: z.string().default(''), FETCHING_CALLBACK_TIMEOUT: z.int().default(60) }),
		opal_client: z.object({
			DATA_TOPICS: z.array(z.string()).default([]),
			CLIENT_TOKEN: z.string().default(''),
			SERVER_URL: Url.default(''),
			SERVER_WS_URL: Url.default(''),
			SERVER_PUBSUB_URL: Url.default(''),
			DEFAULT_DATA_SOURCES_CONFIG_URL: Url.default(''),
			SCOPE_ID: z.string().nullable().default(null),
			SHOULD_REPORT_ON_DATA_UPDATES: z.boolean().default(false),
			DEFAULT_UPDATE_CALLBACKS: z.object({ callbacks: z.array(z.string()).default([]) }).prefault({}),
		}),
		pdp: z.object({
			BACKEND_SERVICE_URL: Url,
			OPA_DECISION_LOG_ENABLED: z.boolean().default(false),
			OPA_DECISION_LOG_INGRESS_ROUTE: z.string().default(''),
			OPA_DECISION_LOG_INGRESS_BACKEND_TIER_URL: Url.default(''),
			CONTROL_PLANE_RELAY_JWT_TIER: Url.default(''),
			CONTROL_PLANE_RELAY_API: Url.default(''),
			CONTROL_PLANE_PDP_DELTAS_API: Url.default(''),
			FACTDB_ENABLED: z.boolean().default(false),
			FACTDB_BACKUP_SERVER_URL: Url.default(''),
		}),
		context: z.object({
			customer_id: Uuid,
			client_id: Uuid,
			backend_tier: Url,
			component: z.string().default('sidecar'),
			org_id: Uuid,
			project_id: Uuid,
			env_id: Uuid,
		}),
		feed: z.object({ BUNDLE_URL: Url, REGO_BUNDLE_URL: Url, DEBUG_AUDIT_LOGS: z.boolean() }),
	})
	.meta({ id: 'RemoteConfig' });
export type RemoteConfig = z.input<typeof RemoteConfig>;

/** How large the state of a decision point may be, as JSON text. */
const maxStateLength = 16_384;

/** What a decision point reports about itself. */
export const PdpStateUpdate = z
	.object({
		pdp_instance_id: Text.min(1).max(512),
		state: Attributes.refine(
			(state) => (JSON.stringify(state) ?? '').length <= maxStateLength,
			`must be at most ${maxStateLength} characters of JSON`,
		),
	})
	.meta({ id: 'PDPStateUpdate' });
export type PdpStateUpdate = z.output<typeof PdpStateUpdate>;

/** The same for a decision point that need not report anything yet. */
export const PdpConfigRequest = z.object({
	pdp_instance_id: optional(PdpStateUpdate.shape.pdp_instance_id),
	state: optional(PdpStateUpdate.shape.state),
});

/** A decision point that has reported its state. */
export const PdpInstanceRead = z
	.object({
		pdp_instance_id: z.string(),
		/** The API key that it reported with: the id of its config. */
		api_key_id: Uuid,
		environment_id: Uuid,
		state: StoredObject,
		first_seen_at: Timestamp,
		last_seen_at: Timestamp,
	})
	.meta({ id: 'PDPInstanceRead' });
export type PdpInstanceRead = z.input<typeof PdpInstanceRead>;
