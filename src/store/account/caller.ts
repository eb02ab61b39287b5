import { Failure, forbidden } from '../../failure.js';
import type { Environment, ObjectType } from '../table/account.js';
import type { KeyHolder } from '../unit/caller-check.js';

/** Request to decision points for a fresh snapshot. */
export interface Refresh {
	readonly id: string;
	/** Environment revision created by the request: older snapshots are not fresh. */
	readonly revision: number;
}

/** A request's API key, and the access it grants. */
export interface Caller extends KeyHolder {
	/** `null` for access to all projects in the organization. */
	readonly project_id: string | null;
	/** `null` for access to all environments in the project. */
	readonly environment_id: string | null;
	readonly object_type: ObjectType;
	/**
	 * Newest refresh requested from decision points with this key. Absent on some callers, because only the feed needs
	 * it.
	 */
	readonly refresh?: Refresh | null;
	/**
	 * Environment of the console session, the only environment its requests may access. Absent for requests with the key
	 * itself.
	 */
	readonly session_environment_id?: string;
	/** Key in the header `X-Console-Confirm`. Read only for console sessions. */
	readonly session_confirmation?: string;
}

/** Returns true if a caller's key grants access to an environment in its organization. */
export function opens(caller: Caller, environment: Environment): boolean {
	return (
		(caller.project_id === null || caller.project_id === environment.project_id) &&
		(caller.environment_id === null || caller.environment_id === environment.id)
	);
}

/** Rejections of console sessions, by the requested object. */
const sessionRefusals = {
	environment: 'this session belongs to a different environment',
	key: 'a console session can only change the API keys of its environment: use an API key',
	organization: 'a console session can only change its own environment: use an API key',
} as const;

/** Throws `forbidden` if the caller has a console session and the object is not in the session's environment. */
export function requireInSession(
	{ session_environment_id }: Caller,
	object: keyof typeof sessionRefusals,
	environmentId: string | null = null,
): void {
	if (session_environment_id === undefined || session_environment_id === environmentId) return;
	throw forbidden(sessionRefusals[object]);
}

/**
 * Throws `forbidden` if the caller has a console session and its request does not confirm the change with the key of
 * the project or organization.
 */
export function requireConfirmation(caller: Caller, object: 'project' | 'organization', key: string): void {
	const { session_environment_id, session_confirmation } = caller;
	if (session_environment_id === undefined || session_confirmation === key) return;
	const message = `confirm this with the key of the ${object}: send the header \`X-Console-Confirm: ${key}\``;
	throw new Failure('forbidden', message, { code: 'CONFIRMATION_REQUIRED' });
}
