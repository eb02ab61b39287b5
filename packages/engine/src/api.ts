/**
 * Public API of the package. INVARIANT: this file imports nothing and uses no runtime-specific types, so its
 * declarations are valid in Node.js, browsers and workers.
 */

/** Source for loading an engine, in one of three forms. */
export type EngineSource = BundleSource | ControlPlaneSource | ModuleSource;

/** The bytes of a bundle. The engine stays at the bundle's revision. */
export interface BundleSource {
	/** A snapshot, as returned to decision points by `GET /bundles/{environment id}`. */
	readonly bundle: Uint8Array | ArrayBuffer;
	/** SHA-256 of the bundle in hexadecimal. If given, a bundle with a different digest is rejected before it is read. */
	readonly sha256?: string;
	/** As in `ControlPlaneSource`. */
	readonly verificationKeys?: readonly string[];
}

/** A Regolith API to follow. The engine uses the newest revision until it is closed. */
export interface ControlPlaneSource {
	/** API URL without a path. */
	readonly controlPlane: string;
	/** API key for the environment. It gives access to the environment's policy and data: never use it in a web page. */
	readonly apiKey: string;
	/**
	 * Public keys in PEM. If given, every bundle must be signed by one of these keys (see the API's
	 * `BUNDLE_SIGNING_KEY_PATH`); other bundles are not used.
	 */
	readonly verificationKeys?: readonly string[];
	/** Maximum wait for the first revision, in milliseconds; 30,000 by default. */
	readonly timeout?: number;
}

/** A compiled policy with its data, for runtimes that do not compile bytes. The engine stays at this revision. */
export interface ModuleSource {
	/** `WebAssembly.Module`, compiled from a bundle's `policy.wasm`. */
	readonly module: object;
	/** `data.json` from the same bundle: its bytes, its text, or its value. */
	readonly data: Uint8Array | ArrayBuffer | string | JsonObject;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * A user in a query. Only the key is required. In conditions, the other fields take precedence over stored attributes.
 */
export interface UserDescription {
	readonly key: string;
	readonly email?: string | null;
	readonly first_name?: string | null;
	readonly firstName?: string | null;
	readonly last_name?: string | null;
	readonly lastName?: string | null;
	readonly attributes?: JsonObject | null;
}

/** A resource in a query. */
export interface ResourceDescription {
	readonly type: string;
	/** Instance key; absent for a query about the type in a tenant. */
	readonly key?: string | null;
	/** `default` if absent. */
	readonly tenant?: string | null;
	readonly attributes?: JsonObject | null;
}

/** A role on an instance, for one check. */
export interface ContextualRoleAssignment {
	/** User key. */
	readonly user: string;
	readonly role: string;
	/** `<type>:<key>`. */
	readonly resource_instance: string;
}

/** A relationship, for one check. */
export interface ContextualRelationshipTuple {
	/** `<type>:<key>`. */
	readonly subject: string;
	readonly relation: string;
	/** `<type>:<key>`. */
	readonly object: string;
}

/** Facts in a check that are not stored, at most 20. */
export interface ContextualFacts {
	readonly role_assignments?: readonly ContextualRoleAssignment[] | null;
	readonly relationship_tuples?: readonly ContextualRelationshipTuple[] | null;
}

/** May this user do this? Body of `/allowed`. */
export interface CheckQuery {
	/** The user, the user's key, or all users with a role on an instance, as `{set: '<type>:<key>#<role>'}`. */
	readonly user: string | UserDescription | { readonly set: string };
	readonly action: string;
	/** The resource, or `<type>` or `<type>:<key>` in the tenant `default`. */
	readonly resource: string | ResourceDescription;
	readonly context?: JsonObject | null;
	/** Allowed only if the environment setting `contextual_facts` is true. Otherwise, the query is invalid. */
	readonly contextual_facts?: ContextualFacts | null;
	/** Requests the reasons for the decision. Reasons take a hundred times longer to compute than the decision. */
	readonly use_debugger?: boolean | null;
}

/** Check result, as returned by `/allowed`. */
export interface CheckResult {
	readonly allow: boolean;
	/** Same as `allow`. */
	readonly result: boolean;
	/** The query as the policy read it; only with `use_debugger`. */
	readonly query?: unknown;
	/**
	 * The reasons; only with `use_debugger`. If no decision was possible, `debug.code` is always present: `not_loaded`,
	 * `closed`, `environment_deleted`, `evaluation_failed` or `invalid_query`.
	 */
	readonly debug?: unknown;
}

/** What may this user do? Body of `/user-permissions`. An absent or empty filter matches everything. */
export interface PermissionsQuery {
	/** As in `CheckQuery`. */
	readonly user: string | UserDescription | { readonly set: string };
	/** Tenant keys, or `__tenant:<key>`. */
	readonly tenants?: readonly string[] | null;
	/** `<type>:<key>`, `__tenant:<key>`, or bare keys. */
	readonly resources?: readonly string[] | null;
	/** Types; `__tenant` selects tenants. */
	readonly resource_types?: readonly string[] | null;
	readonly context?: JsonObject | null;
	/** As in `CheckQuery`. */
	readonly contextual_facts?: ContextualFacts | null;
}

/** A tenant in a listing. */
export interface ListedTenant {
	readonly key: string;
	readonly attributes?: unknown;
}

/** A user's permissions by object: `__tenant:<key>` for a tenant, `<type>:<key>` for an instance. */
export type UserPermissions = Readonly<
	Record<
		string,
		{
			readonly tenant: ListedTenant;
			/** The instance; absent for a tenant. */
			readonly resource?: { readonly type: string; readonly key: string; readonly attributes?: unknown };
			/** `<type>:<action>`, sorted. */
			readonly permissions: readonly string[];
			/** Role keys, sorted. */
			readonly roles: readonly string[];
		}
	>
>;

/** Who may do this? Body of `/authorized_users`. */
export interface UsersQuery {
	readonly action: string;
	readonly resource: string | ResourceDescription;
	readonly context?: JsonObject | null;
}

/** On which rows may this user do this? Body of `/filter`: a check without a resource key. */
export interface FilterQuery {
	readonly user: string | UserDescription | { readonly set: string };
	readonly action: string;
	/** The type, or the type with a tenant and with attributes that are known for every row. */
	readonly resource: string | Omit<ResourceDescription, 'key'>;
	readonly context?: JsonObject | null;
	/** Maximum number of instance and tenant keys: 5,000 by default, at most 50,000. */
	readonly max_keys?: number | null;
}

/** A filter, as returned by `/filter`. */
export interface FilterResult {
	readonly type: 'always_allow' | 'always_deny' | 'conditional';
	/** Condition on rows, in the form described in `docs/develop/filters.md`; present if the type is `conditional`. */
	readonly condition?: unknown;
	/** Revision of the filter; 0 if the engine was loaded without a bundle. */
	readonly revision: number;
	/** Time in ISO 8601 at which an expiry may change the filter; `null` if nothing expires. */
	readonly valid_until: string | null;
}

/** A role assignment that grants the requested action. */
export interface GrantingAssignment {
	readonly user: string;
	readonly tenant: string;
	/** Object on which the role is assigned: `__tenant:<key>` or `<type>:<key>`. */
	readonly resource: string;
	/** Role key in a tenant, `<type>#<key>` on an instance. */
	readonly role: string;
	/** The assignment's condition, which holds in this query; absent if there is none. */
	readonly condition?: { readonly set: string; readonly values: JsonObject };
}

/** Authorized users and their granting assignments. */
export interface AuthorizedUsers {
	/** `<type>:<key>`, or `<type>:*` without a key. */
	readonly resource: string;
	readonly tenant: string;
	/** Granting assignments, keyed by user key. */
	readonly users: Readonly<Record<string, readonly GrantingAssignment[]>>;
}

/** The fields of a filter that `toSql`, `applyFilter` and `toPrismaWhere` read. */
export type RowFilter = Pick<FilterResult, 'type' | 'condition'>;

/** Database that runs a query. `mysql` includes MariaDB. */
export type SqlDialect = 'postgresql' | 'mysql' | 'sqlserver' | 'sqlite';

/**
 * Columns by attribute: `key`, `tenant`, or the name of an attribute, such as `owner`. A column is a name, such as
 * `owner_id` or `documents.owner_id`, or an object with the name and the column's properties.
 */
export type ColumnMapping = Readonly<Record<string, string | MappedColumn>>;

export interface MappedColumn {
	readonly column: string;
	/**
	 * Type of the values: `string`, `number`, `bool` or `time`; `integer` for numbers without values beyond ±(2^53 - 1),
	 * or `uuid`. Needed for every attribute that a filter compares, except `key` and `tenant`.
	 */
	readonly type?: string;
	/** True if every row has a value. */
	readonly required?: boolean;
}

/** A filter in SQL. */
export interface SqlFilter {
	/** A condition for `WHERE`, with placeholders: `$1` in PostgreSQL, `@p1` in SQL Server, `?` in other dialects. */
	readonly sql: string;
	/** The parameters, in order. A list of strings is an array in PostgreSQL, and JSON in other dialects. */
	readonly parameters: readonly (string | number | readonly string[])[];
}

/** The part of a Knex query that `applyFilter` uses. */
export interface KnexBuilder {
	whereRaw(sql: string, bindings: (string | number | string[])[]): unknown;
	readonly client?: { readonly config?: { readonly client?: unknown }; readonly dialect?: string };
}

/** Databases with exact comparisons through Prisma. */
export type PrismaProvider = 'postgresql' | 'sqlite';

/** A condition for Prisma's `where`. */
export type PrismaWhere = Readonly<Record<string, unknown>>;

/**
 * Engine state.
 *
 * - `ready`: the engine decides queries.
 * - `stale`: the engine uses its last revision, because the API is unreachable.
 * - `starting`: nothing is loaded, so the engine denies.
 * - `refused`: the API rejects the key, so nothing is loaded and the engine denies.
 * - `deleted`: the environment was deleted, so the engine denies with the code `environment_deleted`.
 * - `closed`: the engine was closed, so it denies every check.
 */
export interface EngineState {
	readonly kind: 'starting' | 'ready' | 'stale' | 'refused' | 'deleted' | 'closed';
	/** Human-readable problem; empty if there is none. */
	readonly detail: string;
}

/**
 * An environment's policy and data in this process. Accepts the same queries as a decision point, and returns the same
 * results. Fails closed: a query that cannot be decided is denied, or rejected with `RegolithError`.
 */
export interface LoadedEngine {
	/** Decides a check synchronously. Never throws, regardless of the input. */
	check(query: CheckQuery): CheckResult;
	/**
	 * Decides up to 10,000 checks at a single revision, in slices, so other work can run between them. Denies invalid
	 * items. Rejects with `RegolithError` if nothing is loaded, or if the list is invalid or too long.
	 */
	checkMany(queries: readonly CheckQuery[]): Promise<readonly CheckResult[]>;
	/** Lists a user's permissions. Rejects with `RegolithError`. */
	userPermissions(query: PermissionsQuery): Promise<UserPermissions>;
	/** Lists the tenants where a user holds a role. Rejects with `RegolithError`. */
	userTenants(query: Pick<PermissionsQuery, 'user' | 'context'>): Promise<readonly ListedTenant[]>;
	/** Lists the users who may perform an action on a resource. Rejects with `RegolithError`. */
	authorizedUsers(query: UsersQuery): Promise<AuthorizedUsers>;
	/**
	 * Calculates a condition for the rows on which a user may perform an action. Rejects with `RegolithError`:
	 * also with `invalid_query` if the filter has too many keys, and with `unavailable` if it depends on a regular
	 * expression, which this library cannot match.
	 */
	filter(query: FilterQuery): Promise<FilterResult>;
	readonly state: EngineState;
	/** Revision in use; `undefined` if nothing is loaded, or if the engine was loaded without a bundle. */
	readonly revision: number | undefined;
	/** Newest revision that the policy in use covers. Less than `revision` while the policy of `revision` is pending. */
	readonly policyRevision: number | undefined;
	/**
	 * Database lineage of the revision; `undefined` if unknown. A failover or restore that may have lost revisions changes
	 * the lineage, and the revision number may then decrease.
	 */
	readonly lineage: string | undefined;
	/**
	 * Resolves when the engine uses `revision` or a later revision, including its policy. `revision` is a number or
	 * token, such as a write's `X-Revision` or `X-Revision-Token`. Rejects with `RegolithError` after `timeout`
	 * milliseconds (10,000 by default), or if the revision can never arrive, because its lineage has ended.
	 */
	reached(revision: number | string, options?: { readonly timeout?: number }): Promise<void>;
	/** Stops the engine and frees its memory. Every later check is denied. Resolves when no work is running. */
	close(): Promise<void>;
}

/** Code of a `RegolithError`. */
export type RegolithErrorCode =
	/** The argument of `loadEngine` is not one of the three sources, or a verification key is invalid. */
	| 'invalid_source'
	/** The bundle, or the module with its data, is damaged, has an unsupported version, or fails verification. */
	| 'invalid_bundle'
	/** The API rejects the key. */
	| 'refused'
	/** The query is invalid, or its filter has too many keys or needs a second table. */
	| 'invalid_query'
	/** The database cannot express a filter exactly. The message contains the condition set and the database. */
	| 'filter_refused'
	/** A column for a filter is missing or not an identifier, or the dialect is unknown. The message has the details. */
	| 'invalid_columns'
	/** No revision arrived in time, nothing is loaded, the calculation takes too long, or a filter needs RE2. */
	| 'unavailable'
	/** The engine was closed. */
	| 'closed';

/** The only error thrown by this package. The message is human-readable. */
export class RegolithError extends Error {
	override readonly name = 'RegolithError';
	readonly code: RegolithErrorCode;

	constructor(code: RegolithErrorCode, message: string, cause?: unknown) {
		super(message, { cause });
		this.code = code;
	}
}
