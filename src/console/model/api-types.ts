/**
 * What the pages read of answers of the API: these members and no others. A test of types holds them against the schemas
 * of the answers (test/console/api-types.ts), because the room imports nothing of the server.
 */

/** Who is signed in, where. Ids, but for the keys. */
export interface Actor {
	readonly proj_id: string;
	readonly env_id: string;
	readonly tenant_key: string;
	readonly user_id: string;
	readonly user_key: string;
}

/** What a user may do in an element. */
export type PermissionLevel = 'LEVEL_1' | 'LEVEL_2' | 'LEVEL_3' | 'LEVEL_4' | 'HIDDEN' | 'UNCONFIGURED';

/** A role that has a level in an element; `resource_id` is null for roles in a tenant. */
export interface LeveledRole {
	readonly id: string;
	readonly key: string;
	readonly name: string;
	readonly resource_id: string | null;
}

/** What an element is. */
export interface ElementConfig {
	readonly key: string;
	readonly name: string;
	readonly elements_type:
		| 'user_management'
		| 'audit_log'
		| 'approval_flow'
		| 'operation_approval'
		| 'approval_management';
	readonly settings: Readonly<Record<string, string | number | boolean>>;
	readonly is_active: boolean;
	readonly roles_to_levels: Partial<Readonly<Record<PermissionLevel, readonly LeveledRole[]>>>;
}

/** An element as it is opened. */
export interface ElementRuntime {
	readonly config: ElementConfig;
	readonly current_permission_level: PermissionLevel;
	/** The resource of the instance that the page is about, in an element of access requests. */
	readonly resource_id: string | null;
}

/** The states of a request. */
export type RequestStatus = 'pending' | 'approved' | 'denied' | 'canceled';

/** A request in a list: for a role, or for the approval of an operation, which has no role. */
export interface ListedRequest {
	readonly id: string;
	readonly created_at: string;
	readonly status: RequestStatus;
	readonly reason: string | null;
	readonly reviewer_comment: string | null;
	readonly requesting_user_id: string;
	readonly requesting_user_key: string;
	readonly requesting_user_email: string | null;
	readonly requesting_user_first_name: string | null;
	readonly requesting_user_last_name: string | null;
	readonly resource_key: string | null;
	readonly resource_instance_key: string | null;
	readonly access_request_details: {
		readonly resource: string | null;
		readonly resource_instance: string | null;
		readonly role?: string;
		/** When it ends; absent for good. */
		readonly expires_at?: string | undefined;
	};
	/** When an approval that is good for one use was used. */
	readonly consumed_at?: string | undefined;
	readonly role_key?: string;
	readonly role_name?: string;
}

/** A page of a list. */
export interface Paginated<Item> {
	readonly data: readonly Item[];
	readonly total_count: number;
	readonly page_count: number;
}

/** A user of a tenant, or one who was invited (`pending`). */
export interface ListedUser {
	readonly id: string;
	readonly key: string;
	readonly email: string | null;
	readonly first_name: string | null;
	readonly last_name: string | null;
	readonly associated_tenants: readonly {
		readonly tenant: string;
		readonly status: 'active' | 'pending';
		readonly roles: readonly string[];
		readonly resource_instance_roles?:
			| readonly { readonly resource_instance: string; readonly resource: string; readonly role: string }[]
			| undefined;
	}[];
}

/** A role that the user management of an element knows. */
export interface ElementRole {
	readonly id: string;
	readonly key: string;
	readonly name: string;
	readonly permission_level: PermissionLevel;
}
