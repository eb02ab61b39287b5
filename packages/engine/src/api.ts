/**
 * Public API of the package. INVARIANT: this file imports nothing and uses no runtime-specific types, so its
 * declarations are valid in Node.js, browsers and workers.
 */

/** Source for loading an engine, in one of three forms. */
export type EngineSource = BundleSource | ControlPlaneSource | ModuleSource;

/** A bundle in bytes: a fixed revision. */
export interface BundleSource {
	/** A snapshot, as returned to decision points by `GET /bundles/{environment id}`. */
	readonly bundle: Uint8Array | ArrayBuffer;
	/** SHA-256 of the bundle in hexadecimal. If given, a bundle with a different digest is refused before it is read. */
	readonly sha256?: string;
	/** As in `ControlPlaneSource`. */
	readonly verificationKeys?: readonly string[];
}

/** A Regolith API to follow: always the newest revision, until the engine is closed. */
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
	/** Maximum wait for the first revision, in milliseconds; 30,000 unless given. */
	readonly timeout?: number;
}

/** A compiled policy and its data, for runtimes that do not compile bytes: a fixed revision. */
export interface ModuleSource {
	/** `WebAssembly.Module` compiled from a bundle's `policy.wasm`. */
	readonly module: object;
	/** `data.json` from the same bundle: its bytes, its text, or its value. */
	readonly data: Uint8Array | ArrayBuffer | string | JsonObject;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** A user in a query. Only the key is needed; conditions see the rest in addition to stored attributes. */
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
	/** `default` unless given. */
	readonly tenant?: string | null;
	readonly attributes?: JsonObject | null;
}

/** May this user do this? Body of `/allowed`. */
export interface CheckQuery {
	/** The user, or the user's key. */
	readonly user: string | UserDescription;
	readonly action: string;
	/** The resource, or `<type>` or `<type>:<key>` in the tenant `default`. */
	readonly resource: string | ResourceDescription;
	readonly context?: JsonObject | null;
	/** Requests the reasons, which take a hundred times as long as the decision. */
	readonly use_debugger?: boolean | null;
}

/** Result of a check, as returned by `/allowed`. */
export interface CheckResult {
	readonly allow: boolean;
	/** Same as `allow`. */
	readonly result: boolean;
	/** The query as the policy read it; only with `use_debugger`. */
	readonly query?: unknown;
	/**
	 * The reasons; only with `use_debugger`. A denial without a decision always has a code: `{ code: 'not_loaded' }`,
	 * `closed`, `environment_deleted` or `invalid_query`.
	 */
	readonly debug?: unknown;
}

/** What may this user do? Body of `/user-permissions`. Absent and empty filters pass everything. */
export interface PermissionsQuery {
	readonly user: string | UserDescription;
	/** Tenant keys, or `__tenant:<key>`. */
	readonly tenants?: readonly string[] | null;
	/** `<type>:<key>`, `__tenant:<key>`, or bare keys. */
	readonly resources?: readonly string[] | null;
	/** Types; `__tenant` selects tenants. */
	readonly resource_types?: readonly string[] | null;
	readonly context?: JsonObject | null;
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

/** A role assignment that grants the requested action. */
export interface GrantingAssignment {
	readonly user: string;
	readonly tenant: string;
	/** Object on which the role is assigned: `__tenant:<key>` or `<type>:<key>`. */
	readonly resource: string;
	/** Role key in a tenant, `<type>#<key>` on an instance. */
	readonly role: string;
}

/** Authorized users and their granting assignments. */
export interface AuthorizedUsers {
	/** `<type>:<key>`, or `<type>:*` without a key. */
	readonly resource: string;
	readonly tenant: string;
	/** By user key. */
	readonly users: Readonly<Record<string, readonly GrantingAssignment[]>>;
}

/**
 * Engine state.
 *
 * - `ready`: it answers.
 * - `stale`: it answers from its last revision, because the API cannot be reached.
 * - `starting`: nothing is loaded, so it denies.
 * - `refused`: the API refuses the key, so nothing is loaded and it denies.
 * - `deleted`: the environment was deleted, so it denies with the code `environment_deleted`.
 * - `closed`: it denies forever.
 */
export interface EngineState {
	readonly kind: 'starting' | 'ready' | 'stale' | 'refused' | 'deleted' | 'closed';
	/** Human-readable problem; empty if there is none. */
	readonly detail: string;
}

/**
 * An environment's policy and data in this process. Answers like a decision point, from the same queries. Fails closed:
 * undecidable queries are denied, or rejected with `RegolithError`.
 */
export interface LoadedEngine {
	/** Decides a check synchronously. Never throws, whatever the input. */
	check(query: CheckQuery): CheckResult;
	/**
	 * Decides up to 10,000 checks at a single revision, in slices that let other work run in between. Denies invalid
	 * items. Rejects with `RegolithError` if nothing is loaded, or if the list is invalid or too long.
	 */
	checkMany(queries: readonly CheckQuery[]): Promise<readonly CheckResult[]>;
	/** Lists a user's permissions. Rejects with `RegolithError`. */
	userPermissions(query: PermissionsQuery): Promise<UserPermissions>;
	/** Lists the tenants where a user holds a role. Rejects with `RegolithError`. */
	userTenants(query: Pick<PermissionsQuery, 'user' | 'context'>): Promise<readonly ListedTenant[]>;
	/** Lists the users who may do an action on a resource. Rejects with `RegolithError`. */
	authorizedUsers(query: UsersQuery): Promise<AuthorizedUsers>;
	readonly state: EngineState;
	/** Revision used for answers; `undefined` if nothing is loaded, or if it was loaded without a bundle. */
	readonly revision: number | undefined;
	/** Newest revision whose policy is used: `revision`, unless its policy is still pending. */
	readonly policyRevision: number | undefined;
	/**
	 * Database lineage of the revision; `undefined` if unknown. A failover or restore that may have lost revisions changes
	 * the lineage, and the revision may then go back.
	 */
	readonly lineage: string | undefined;
	/**
	 * Resolves when answers use `revision` or a later revision, including its policy. `revision` is a number or token,
	 * such as a write's `X-Revision` or `X-Revision-Token`. Rejects with `RegolithError` after `timeout` milliseconds
	 * (10,000 unless given), or if the revision can never come, because its lineage has ended.
	 */
	reached(revision: number | string, options?: { readonly timeout?: number }): Promise<void>;
	/** Stops the engine and frees its memory. Every later check is denied. Resolves when no work is running. */
	close(): Promise<void>;
}

/** Code of a `RegolithError`. */
export type RegolithErrorCode =
	/** The argument of `loadEngine` has none of the three forms. */
	| 'invalid_source'
	/** The bundle, or the module with its data, is damaged or has an unsupported version. */
	| 'invalid_bundle'
	/** The API refuses the key. */
	| 'refused'
	/** The query is invalid. */
	| 'invalid_query'
	/** Nothing is loaded, or the answer takes too long. */
	| 'unavailable'
	/** The engine was closed. */
	| 'closed';

/** The only error thrown by this package. The message is for humans. */
export class RegolithError extends Error {
	override readonly name = 'RegolithError';
	readonly code: RegolithErrorCode;

	constructor(code: RegolithErrorCode, message: string, cause?: unknown) {
		super(message, { cause });
		this.code = code;
	}
}
