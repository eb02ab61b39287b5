import { Model } from 'objection';

/** Shared columns of organizations, projects and environments. */
abstract class Account extends Model {
	declare id: string;
	declare key: string;
	declare name: string;
	declare settings: Record<string, unknown> | null;
	declare created_at: Date;
	declare updated_at: Date;
}

/** A customer company, which owns projects and all keys. */
export class Organization extends Account {
	static override readonly tableName = 'organizations';
	static override readonly jsonAttributes = ['settings'];

	/** True if the key created by the first start was shown. */
	declare first_key_shown: boolean;
}

/** A product of an organization. */
export class Project extends Account {
	static override readonly tableName = 'projects';
	static override readonly jsonAttributes = ['settings'];

	declare organization_id: string;
	declare description: string | null;
	declare urn_namespace: string | null;
	declare active_policy_repo_id: string | null;
}

/** A project's deployment stage, with separate objects and revisions. */
export class Environment extends Account {
	static override readonly tableName = 'environments';
	static override readonly jsonAttributes = ['jwks', 'settings'];

	declare organization_id: string;
	declare project_id: string;
	declare description: string | null;
	declare custom_branch_name: string | null;
	declare jwks: Record<string, unknown> | null;
	/** Number of units that have changed this environment. */
	declare revision: number;
	/** Newest revision with a change that affects the compiled policy. */
	declare schema_revision: number;
}

/** Level at which a key grants access. */
export type ObjectType = 'org' | 'project' | 'env';

/** A key's rights. A `read` key cannot write. A `no_access` key can only read its own scope. */
export type AccessLevel = 'admin' | 'write' | 'read' | 'no_access';

/** Secret that grants access to an organization, a project or an environment. */
export class ApiKey extends Model {
	static override readonly tableName = 'api_keys';

	declare id: string;
	declare organization_id: string;
	declare project_id: string | null;
	declare environment_id: string | null;
	declare object_type: ObjectType;
	declare access_level: AccessLevel;
	declare owner_type: 'pdp_config' | 'member' | 'elements';
	declare name: string | null;
	declare secret_hash: Uint8Array;
	declare secret_cipher: Uint8Array;
	/** True if decision points with this key should log decisions in detail. */
	declare debug_audit_logs: boolean;
	declare created_at: Date;
	/** Id of the newest refresh requested from decision points with this key; `null` if none was requested. */
	declare refresh_id: string | null;
	/** Environment revision created by the refresh request. */
	declare refresh_revision: number | null;
	declare refresh_reason: string | null;
	/** When the secret was last rotated; `null` if it was never rotated. */
	declare rotated_at: Date | null;
	/** When the key was last used, to the minute. */
	declare last_used_at: Date | null;
}
