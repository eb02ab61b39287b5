/**
 * What users of the package see. INVARIANT: this file imports nothing and names no type of a runtime, so its
 * declarations mean the same in Node.js, in browsers and in workers.
 */

/** What an engine is loaded from, in one of three forms. */
export type EngineSource = BundleSource | ControlPlaneSource | ModuleSource;

/** The bytes of a bundle: one revision, for good. */
export interface BundleSource {
	/** A snapshot, as `GET /bundles/{environment id}` of a Regolith API sends it to decision points. */
	readonly bundle: Uint8Array | ArrayBuffer;
	/** SHA-256 of these bytes in hexadecimal. When given, other bytes are refused before anything reads them. */
	readonly sha256?: string;
	/** As in `ControlPlaneSource`. */
	readonly verificationKeys?: readonly string[];
}

/** A Regolith API to follow: the newest revision, always, until the engine is closed. */
export interface ControlPlaneSource {
	/** The URL of the API without a path. */
	readonly controlPlane: string;
	/** The key of the environment. It opens the environment's policy and data: it has no place in a web page. */
	readonly apiKey: string;
	/**
	 * Public keys in PEM. When given, every bundle has to be signed by one of them (`BUNDLE_SIGNING_KEY_PATH` of the API),
	 * and what is not is not used.
	 */
	readonly verificationKeys?: readonly string[];
	/** How long to wait for the first revision, in milliseconds; 30,000 unless given. */
	readonly timeout?: number;
}

/** A compiled policy and its data, for runtimes that do not compile bytes: one revision, for good. */
export interface ModuleSource {
	/** The `WebAssembly.Module` of `policy.wasm` in a bundle. */
	readonly module: object;
	/** The `data.json` of the same bundle: its bytes, its text, or what it says. */
	readonly data: Uint8Array | ArrayBuffer | string | JsonObject;
}

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A user in a question. Only the key is needed; the rest is what conditions see besides the stored attributes. */
export interface UserDescription {
	readonly key: string;
	readonly email?: string | null;
	readonly first_name?: string | null;
	readonly firstName?: string | null;
	readonly last_name?: string | null;
	readonly lastName?: string | null;
	readonly attributes?: JsonObject | null;
}

/** A resource in a question. */
export interface ResourceDescription {
	readonly type: string;
	/** An instance; absent for a question about the type in a tenant. */
	readonly key?: string | null;
	/** `default` unless given. */
	readonly tenant?: string | null;
	readonly attributes?: JsonObject | null;
}

/** May this user do this? The body of `/allowed`. */
export interface CheckQuery {
	/** The user, or the user's key. */
	readonly user: string | UserDescription;
	readonly action: string;
	/** The resource, or `<type>` or `<type>:<key>` in the tenant `default`. */
	readonly resource: string | ResourceDescription;
	readonly context?: JsonObject | null;
	/** Asks for the reasons, which take a hundred times as long as the decision. */
	readonly use_debugger?: boolean | null;
}

/** The answer to a check, as `/allowed` gives it. */
export interface CheckResult {
	readonly allow: boolean;
	/** The same. */
	readonly result: boolean;
	/** The question as the policy read it; with `use_debugger` only. */
	readonly query?: unknown;
	/**
	 * The reasons; with `use_debugger` only. A denial because there was nothing to decide says so unasked:
	 * `{ code: 'not_loaded' }`, `closed`, `environment_deleted` or `invalid_query`.
	 */
	readonly debug?: unknown;
}

/** What may this user do? The body of `/user-permissions`. Filters that are absent or empty let everything through. */
export interface PermissionsQuery {
	readonly user: string | UserDescription;
	/** Keys of tenants, or `__tenant:<key>`. */
	readonly tenants?: readonly string[] | null;
	/** `<type>:<key>`, `__tenant:<key>`, or bare keys. */
	readonly resources?: readonly string[] | null;
	/** Types; `__tenant` stands for the tenants themselves. */
	readonly resource_types?: readonly string[] | null;
	readonly context?: JsonObject | null;
}

/** A tenant as listings show it. */
export interface ListedTenant {
	readonly key: string;
	readonly attributes?: unknown;
}

/** What a user may do, by object: `__tenant:<key>` for a tenant, `<type>:<key>` for an instance. */
export type UserPermissions = Readonly<
	Record<
		string,
		{
			readonly tenant: ListedTenant;
			/** The instance; absent for a tenant. */
			readonly resource?: { readonly type: string; readonly key: string; readonly attributes?: unknown };
			/** `<type>:<action>`, sorted. */
			readonly permissions: readonly string[];
			/** Keys of roles, sorted. */
			readonly roles: readonly string[];
		}
	>
>;

/** Who may do this? The body of `/authorized_users`. */
export interface UsersQuery {
	readonly action: string;
	readonly resource: string | ResourceDescription;
	readonly context?: JsonObject | null;
}

/** An assignment of a role that grants what was asked for. */
export interface GrantingAssignment {
	readonly user: string;
	readonly tenant: string;
	/** Where the role is assigned: `__tenant:<key>` or `<type>:<key>`. */
	readonly resource: string;
	/** In a tenant the key of the role; on an instance `<type>#<key>`. */
	readonly role: string;
}

/** Who may do what was asked for, and by which assignments. */
export interface AuthorizedUsers {
	/** `<type>:<key>`, or `<type>:*` without a key. */
	readonly resource: string;
	readonly tenant: string;
	/** By the user's key. */
	readonly users: Readonly<Record<string, readonly GrantingAssignment[]>>;
}

/**
 * How an engine stands. `ready`: it answers. `stale`: it answers from its last revision, since the API cannot be reached.
 * `starting` and `refused`: it holds nothing and denies, the latter because the API refuses the key. `deleted`: it
 * denies with the code `environment_deleted`, since the environment was deleted. `closed`: it denies for good.
 */
export interface EngineState {
	readonly kind: 'starting' | 'ready' | 'stale' | 'refused' | 'deleted' | 'closed';
	/** What is wrong, for people; empty when nothing is. */
	readonly detail: string;
}

/**
 * One environment's policy and data in this process. Answers are those of a decision point: the same questions, read the
 * same way. It fails closed: what it cannot decide is denied, or rejected with `RegolithError`.
 */
export interface LoadedEngine {
	/** Decides one check, at once. Never throws, whatever it is given. */
	check(query: CheckQuery): CheckResult;
	/**
	 * Decides many checks, at most 10,000, at one revision, in slices between which other work runs. An item that is no
	 * check is denied. Rejects with `RegolithError` when nothing is loaded or the list is no list or too long.
	 */
	checkMany(queries: readonly CheckQuery[]): Promise<readonly CheckResult[]>;
	/** Lists what a user may do. Rejects with `RegolithError`. */
	userPermissions(query: PermissionsQuery): Promise<UserPermissions>;
	/** Lists the tenants where a user holds a role. Rejects with `RegolithError`. */
	userTenants(query: Pick<PermissionsQuery, 'user' | 'context'>): Promise<readonly ListedTenant[]>;
	/** Lists who may do an action on a resource. Rejects with `RegolithError`. */
	authorizedUsers(query: UsersQuery): Promise<AuthorizedUsers>;
	readonly state: EngineState;
	/** The revision that answers come from; `undefined` when nothing is loaded, or it was loaded without a bundle. */
	readonly revision: number | undefined;
	/** The newest revision whose policy decides: `revision`, unless its policy is still awaited. */
	readonly policyRevision: number | undefined;
	/**
	 * The lineage of the database that the revision is of; `undefined` where it is not known. It changes after a failover
	 * or a restore that may have lost revisions, and the revision may go back then.
	 */
	readonly lineage: string | undefined;
	/**
	 * Resolves once answers come from `revision`, such as that of a write (`X-Revision`, or the token in
	 * `X-Revision-Token`), or from a later one, by the policy of it. Rejects with `RegolithError` after `timeout`
	 * milliseconds (10,000 unless given), and when that revision will never come, as that of a lineage that has ended.
	 */
	reached(revision: number | string, options?: { readonly timeout?: number }): Promise<void>;
	/** Ends everything and frees the memory. Every check is denied from then on. Resolves when nothing runs any more. */
	close(): Promise<void>;
}

/** What went wrong: the code of a `RegolithError`. */
export type RegolithErrorCode =
	/** What was given to `loadEngine` is none of the three forms. */
	| 'invalid_source'
	/** The bundle, or the module with its data, is broken or of another version. */
	| 'invalid_bundle'
	/** The API refuses the key. */
	| 'refused'
	/** The question is not one. */
	| 'invalid_query'
	/** Nothing is loaded, or the answer takes too long. */
	| 'unavailable'
	/** The engine was closed. */
	| 'closed';

/** The only error that this package throws. The message is for people. */
export class RegolithError extends Error {
	override readonly name = 'RegolithError';
	readonly code: RegolithErrorCode;

	constructor(code: RegolithErrorCode, message: string, cause?: unknown) {
		super(message, { cause });
		this.code = code;
	}
}
