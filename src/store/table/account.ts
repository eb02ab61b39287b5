import { Model } from 'objection';

/** A customer company: the owner of projects and of every key. */
export class Organization extends Model {
	static override readonly tableName = 'organizations';
	static override readonly jsonAttributes = ['settings'];

	declare id: string;
	declare key: string;
	declare name: string;
	declare settings: Record<string, unknown> | null;
	/** Whether the key that its first start made has been shown. */
	declare first_key_shown: boolean;
	declare created_at: Date;
	declare updated_at: Date;
}

/** One product of an organization. */
export class Project extends Model {
	static override readonly tableName = 'projects';
	static override readonly jsonAttributes = ['settings'];

	declare id: string;
	declare organization_id: string;
	declare key: string;
	declare name: string;
	declare description: string | null;
	declare urn_namespace: string | null;
	declare settings: Record<string, unknown> | null;
	declare active_policy_repo_id: string | null;
	declare created_at: Date;
	declare updated_at: Date;
}

/** One deployment stage of a project, with its own objects and its own sequence of revisions. */
export class Environment extends Model {
	static override readonly tableName = 'environments';
	static override readonly jsonAttributes = ['jwks', 'settings'];

	declare id: string;
	declare organization_id: string;
	declare project_id: string;
	declare key: string;
	declare name: string;
	declare description: string | null;
	declare custom_branch_name: string | null;
	declare jwks: Record<string, unknown> | null;
	declare settings: Record<string, unknown> | null;
	/** The number of units that changed something in this environment. */
	declare revision: number;
	/** The newest revision that changed something the policy is compiled from. */
	declare schema_revision: number;
	declare created_at: Date;
	declare updated_at: Date;
}

/** What a key belongs to and opens. */
export type ObjectType = 'org' | 'project' | 'env';

/** What a key may do there. `read` keys cannot write; `no_access` keys can only see what they belong to. */
export type AccessLevel = 'admin' | 'write' | 'read' | 'no_access';

/** A secret that opens an organization, a project or an environment. */
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
	/** Whether the decision points that use it are to log decisions in detail. */
	declare debug_audit_logs: boolean;
	declare created_at: Date;
	/** The id of the newest refresh of the decision points that use it. */
	declare refresh_id: string | null;
	/** The revision of the environment that the request made. */
	declare refresh_revision: number | null;
	declare refresh_reason: string | null;
	/** When it got its present secret, if that is not its first. */
	declare rotated_at: Date | null;
	/** When it was last used, to the minute. */
	declare last_used_at: Date | null;
}
