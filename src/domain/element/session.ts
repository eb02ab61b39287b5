import { Failure } from '../../failure.js';
import { type ElementSession, signedOut } from '../../store/session/element-entrance.js';
import { isSignedIn, type NewSession, type SessionRow } from '../../store/session/element-sessions.js';
import { Tenant } from '../../store/table/tenant.js';
import { isMember } from '../../store/table/tenant-user.js';
import { User, userWithKey } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type {
	ElementActor,
	ElementLogin,
	ElementSessionRead,
	LoginResult,
} from '../../wire/element/element-session.js';
import { refuseHiddenUser } from './level.js';

/** A user and their tenant. */
export interface ElementMember {
	readonly user: User;
	readonly tenant: Tenant;
}

/**
 * Returns the user and the tenant for a sign-in, each referenced by id or key. Throws `tenant_not_found` for a missing
 * tenant, `user_not_found` for a user who is missing or not a member, and `hidden_user`.
 */
export async function findElementMember(unit: ReadingUnit, named: ElementLogin): Promise<ElementMember> {
	const tenant = await findTenant(unit, named.tenant_id);
	return requireMember(unit, tenant, (await unit.findMany(User, [named.user_id])).get(named.user_id));
}

/**
 * Like `findElementMember`, for the user in a token. It finds users only by key: token issuers choose the subjects, and
 * a subject must not match a different user's id.
 */
export async function findTokenMember(
	unit: ReadingUnit,
	named: { readonly key: string; readonly tenant_id: string },
): Promise<ElementMember> {
	const tenant = await findTenant(unit, named.tenant_id);
	return requireMember(unit, tenant, (await userWithKey(unit, named.key)) ?? undefined);
}

async function findTenant(unit: ReadingUnit, reference: string): Promise<Tenant> {
	const tenant = (await unit.findMany(Tenant, [reference])).get(reference);
	if (tenant === undefined) throw new Failure('tenant_not_found', 'Tenant not found', { code: 'TENANT_NOT_FOUND' });
	return tenant;
}

async function requireMember(unit: ReadingUnit, tenant: Tenant, user: User | undefined): Promise<ElementMember> {
	if (user === undefined || !(await isMember(unit, { tenant_id: tenant.id, user_id: user.id }))) {
		throw new Failure('user_not_found', 'User not found', { code: 'USER_NOT_FOUND' });
	}
	await refuseHiddenUser(unit, { user_id: user.id, tenant_id: tenant.id });
	return { user, tenant };
}

/** Rejects an action if the user was signed out or removed from the tenant after the request began. */
export async function requireSignedIn(unit: ReadingUnit, { id }: ElementSession): Promise<void> {
	if (!(await isSignedIn(unit, id))) throw signedOut();
}

/** Converts the signed-in user to an API object. */
export function readActor({ user, tenant, environment, expires_at }: ElementSession): ElementActor {
	return {
		actor: {
			org_id: environment.organization_id,
			proj_id: environment.project_id,
			env_id: environment.id,
			tenant_id: tenant.id,
			tenant_key: tenant.key,
			user_id: user.id,
			user_key: user.key,
		},
		expires_at: unixSeconds(expires_at),
	};
}

/** Returns the sign-in result for a browser. */
export function readLogin(
	{ environment }: Pick<ElementSession, 'environment'>,
	{ expires_at }: Pick<NewSession, 'expires_at'>,
): LoginResult {
	return { logged_in: true, expires_at: unixSeconds(expires_at), active_org_id: environment.organization_id };
}

/** Converts a session to its API object for administrators. */
export function readElementSession(unit: ReadingUnit, row: SessionRow): ElementSessionRead {
	return { ...row, ...unit.scope };
}

function unixSeconds(instant: Date): number {
	return Math.floor(instant.getTime() / 1_000);
}
