import { whereSearched } from '../../query/filter.js';
import { rowsPerStatement } from '../../query/row-chunks.js';
import { type RowQuery, rowQuery } from '../../query/row-query.js';
import type { ReadingUnit } from '../../unit/reading-unit.js';
import type { WritingUnit } from '../../unit/writing-unit.js';
import { KeyedModel } from '../environment-model.js';

/** Invite of a future user to a role. */
export class UserInvite extends KeyedModel {
	static override readonly tableName = 'user_invites';
	static override readonly jsonAttributes = ['attributes'];
	static readonly kind = 'user_invite';
	static readonly title = 'UserInvite';
	static readonly expires = true;

	declare status: 'pending' | 'approved';
	declare email: string;
	declare first_name: string | null;
	declare last_name: string | null;
	declare role_id: string;
	declare tenant_id: string;
	/** Instance on which the role will be held; `null` for the whole tenant. */
	declare resource_instance_id: string | null;
	/**
	 * Element in which a user created the invite; `null` for invites from the API, and after the element's deletion.
	 */
	declare config_id: string | null;
	/** The future user's key, stored because it may differ from the invite's key; `null` for invites from the API. */
	declare user_key: string | null;
	/** The future user's attributes; `null` for invites from the API. */
	declare attributes: Record<string, unknown> | null;
	/** Approval deadline; `null` if there is no deadline, and after the approval. */
	declare expires_at: Date | null;
}

/** Filter for invites. An invite must match every field, and an entry in each list. Absent fields do not filter. */
export interface UserInviteFilter {
	/** Matches key, email address and names. */
	readonly search?: string | undefined;
	readonly role_ids?: readonly string[] | undefined;
	readonly tenant_ids?: readonly string[] | undefined;
	readonly resource_instance_ids?: readonly string[] | undefined;
	/** True: only invites to resource instances; false: only invites to tenants. */
	readonly on_instances?: boolean | undefined;
	readonly status?: UserInvite['status'] | undefined;
	/** The future user's key. */
	readonly user_key?: string | undefined;
	readonly ids?: readonly string[] | undefined;
}

/** Returns the environment's invites matching the filter, oldest first. */
export function userInvitesBy(
	unit: ReadingUnit,
	{ search, on_instances, status, user_key, ...ids }: UserInviteFilter,
): RowQuery<UserInvite> {
	const query = unit.query(UserInvite).orderBy('user_invites.id');
	whereSearched(query, searched, search);
	const { role_ids, tenant_ids, resource_instance_ids } = ids;
	if (role_ids !== undefined) query.whereRaw('user_invites.role_id = any(?::uuid[])', [role_ids]);
	if (tenant_ids !== undefined) query.whereRaw('user_invites.tenant_id = any(?::uuid[])', [tenant_ids]);
	if (resource_instance_ids !== undefined) {
		query.whereRaw('user_invites.resource_instance_id = any(?::uuid[])', [resource_instance_ids]);
	}
	if (on_instances === true) query.whereNotNull('user_invites.resource_instance_id');
	if (on_instances === false) query.whereNull('user_invites.resource_instance_id');
	if (ids.ids !== undefined) query.whereRaw('user_invites.id = any(?::uuid[])', [ids.ids]);
	if (user_key !== undefined) query.whereRaw('coalesce(user_invites.user_key, user_invites.key) = ?', [user_key]);
	if (status !== undefined) query.where('user_invites.status', status);
	return rowQuery(query);
}

/**
 * Returns at most `rowsPerStatement` stored expired invites. If `keys` is passed, returns only invites with these keys.
 */
export function endedInvites(unit: ReadingUnit, keys?: readonly string[]): RowQuery<UserInvite> {
	const query = unit.queryStored(UserInvite).whereRaw('user_invites.expires_at <= statement_timestamp()');
	if (keys !== undefined) query.whereRaw('user_invites.key = any(?::text[])', [keys]);
	return rowQuery(query.orderBy('user_invites.id').limit(rowsPerStatement));
}

/** Deletes invites, including expired invites. Does not write to the change log. */
export async function deleteStoredInvites(unit: WritingUnit, rows: readonly UserInvite[]): Promise<void> {
	const ids = rows.map(({ id }) => id);
	await unit.queryStored(UserInvite).whereRaw('user_invites.id = any(?::uuid[])', [ids]).delete();
}

const searched = ['key', 'user_key', 'email', 'first_name', 'last_name'].map((column) => `user_invites.${column}`);
