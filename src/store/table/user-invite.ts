import { whereSearched } from '../unit/filter.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { rowsPerStatement } from '../unit/row-chunks.js';
import { type RowQuery, rowQuery } from '../unit/row-query.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { KeyedModel } from './environment-model.js';

/** Someone who is to become a user, and the role that they will get. */
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
	/** Where in the tenant the role will be held; `null` for all of it. */
	declare resource_instance_id: string | null;
	/** The element in which a user made the invite; `null` for those made with an API key, and once it was deleted. */
	declare config_id: string | null;
	/** The key of the future user, where it may not be that of the invite; `null` for invites made with an API key. */
	declare user_key: string | null;
	/** The attributes of the future user; `null` for invites made with an API key. */
	declare attributes: Record<string, unknown> | null;
	/** Until when it can be approved; `null` for good, and once it was. */
	declare expires_at: Date | null;
}

/** What narrows a list of invites: any of each list, all of the lists together; absent ones do not narrow. */
export interface UserInviteFilter {
	/** Matched against key, e-mail address and names. */
	readonly search?: string | undefined;
	readonly role_ids?: readonly string[] | undefined;
	readonly tenant_ids?: readonly string[] | undefined;
	readonly resource_instance_ids?: readonly string[] | undefined;
	/** Only invites to resource instances, or only those that are not. */
	readonly on_instances?: boolean | undefined;
	readonly status?: UserInvite['status'] | undefined;
	/** The key of the future user. */
	readonly user_key?: string | undefined;
	readonly ids?: readonly string[] | undefined;
}

/** The environment's invites that pass the filter, oldest first. */
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

/** Some invites that have ended and are still stored, of these keys where they are given. */
export function endedInvites(unit: ReadingUnit, keys?: readonly string[]): RowQuery<UserInvite> {
	const query = unit.queryStored(UserInvite).whereRaw('user_invites.expires_at <= statement_timestamp()');
	if (keys !== undefined) query.whereRaw('user_invites.key = any(?::text[])', [keys]);
	return rowQuery(query.orderBy('user_invites.id').limit(rowsPerStatement));
}

/** Deletes invites, also those that have ended. Records nothing. */
export async function deleteStoredInvites(unit: WritingUnit, rows: readonly UserInvite[]): Promise<void> {
	const ids = rows.map(({ id }) => id);
	await unit.queryStored(UserInvite).whereRaw('user_invites.id = any(?::uuid[])', [ids]).delete();
}

const searched = ['key', 'user_key', 'email', 'first_name', 'last_name'].map((column) => `user_invites.${column}`);
