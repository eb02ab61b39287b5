import type { Environment, ObjectType } from '../table/account.js';
import type { KeyHolder } from '../unit/standing.js';

/** A request to decision points to take a fresh snapshot. */
export interface Refresh {
	readonly id: string;
	/** The revision of the environment that the request made: older snapshots are not fresh. */
	readonly revision: number;
}

/** The API key of a request, and what it opens. */
export interface Caller extends KeyHolder {
	/** `null` opens every project of the organization. */
	readonly project_id: string | null;
	/** `null` opens every environment of the project. */
	readonly environment_id: string | null;
	readonly object_type: ObjectType;
	/** The newest refresh of the decision points that use the key. Only the feed needs it, so some callers lack it. */
	readonly refresh?: Refresh | null;
	/** The environment that a session of the console is of: its requests name no other. Absent for requests with the key. */
	readonly session_environment_id?: string;
}

/** Whether a caller's key opens an environment of its organization. */
export function opens(caller: Caller, environment: Environment): boolean {
	return (
		(caller.project_id === null || caller.project_id === environment.project_id) &&
		(caller.environment_id === null || caller.environment_id === environment.id)
	);
}
