/**
 * API response fields that the element pages read. The pages import nothing from the server, so a type test compares
 * these types with the response schemas (test/console/api-types.ts).
 */

/** Permission level of a user in an element. */
export type PermissionLevel = 'LEVEL_1' | 'LEVEL_2' | 'LEVEL_3' | 'LEVEL_4' | 'HIDDEN' | 'UNCONFIGURED';

/** Role and its level in an element. `resource_id` is `null` for tenant roles. */
export interface LeveledRole {
	readonly id: string;
	readonly key: string;
	readonly name: string;
	readonly resource_id: string | null;
}

/** Element configuration. */
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

/** Element and the caller's permission level in it. */
export interface ElementRuntime {
	readonly config: ElementConfig;
	readonly current_permission_level: PermissionLevel;
	/** Resource to which the page's instance belongs, in an access request element. */
	readonly resource_id: string | null;
}

export type RequestStatus = 'pending' | 'approved' | 'denied' | 'canceled';

/** Listed request: an access request, or an operation approval, which has no role. */
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
		/** Expiry time; absent if the role is permanent. */
		readonly expires_at?: string | undefined;
	};
	/** Time at which a single-use approval was used. */
	readonly consumed_at?: string | undefined;
	readonly role_key?: string;
	readonly role_name?: string;
}

/** A list page. */
export interface Paginated<Item> {
	readonly data: readonly Item[];
	readonly total_count: number;
	readonly page_count: number;
}

/** User of a tenant, active or invited (`pending`). */
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
			| readonly {
					readonly resource_instance: string;
					readonly resource: string;
					readonly role: string;
					readonly condition?: { readonly set: string } | undefined;
			  }[]
			| undefined;
	}[];
}

/** Role in an element's user management. */
export interface ElementRole {
	readonly id: string;
	readonly key: string;
	readonly name: string;
	readonly permission_level: PermissionLevel;
}
