import { Failure, forbidden } from '../../failure.js';
import type { ElementRequest } from '../../store/table/element/element-request.js';

/** A state change that a user makes to a request. */
export type Move = 'approve' | 'deny' | 'cancel';

/** The user who may make the move, and the resulting state. */
interface Transition {
	readonly by: 'reviewer' | 'requester';
	readonly to: ElementRequest['status'];
}

/**
 * The moves on a request. Each starts from `pending`, the only state that is not final. The specification does not
 * define the starting states ([Elements](../../../docs/develop/contract.md)).
 */
export const transitions: Readonly<Record<Move, Transition>> = {
	approve: { by: 'reviewer', to: 'approved' },
	deny: { by: 'reviewer', to: 'denied' },
	cancel: { by: 'requester', to: 'canceled' },
};

/** The user who makes a move. */
export interface Mover {
	readonly user_id: string;
	/** True if the user reviews this request. */
	readonly reviews: boolean;
	/** True if requesters may approve and deny their own requests. */
	readonly self_review: boolean;
}

/**
 * Returns true if a move changes a request, and `false` if the same user has already made this move. Throws `forbidden`
 * for users without permission, and `conflict` if the request is not pending.
 */
export function decideMove(request: ElementRequest, move: Move, { user_id, reviews, self_review }: Mover): boolean {
	const { by, to } = transitions[move];
	const own = request.requesting_user_id === user_id;
	if (by === 'requester' && !own) throw forbidden('only the requesting user can cancel a request');
	if (by === 'reviewer' && !reviews) throw forbidden('only reviewers can approve or deny a request');
	if (by === 'reviewer' && own && !self_review) throw forbidden('users cannot review their own requests');
	if (request.status === 'pending') return true;
	const repeated = request.status === to && (by === 'requester' || request.reviewer_user_id === user_id);
	if (repeated) return false;
	throw new Failure('conflict', `the request is already ${request.status}`);
}

/**
 * Like `decideMove`, for environment administrators. They are not users in the environment, and may review every
 * request. Returns `false` if an administrator has already made the move.
 */
export function decideAdministeredMove(request: ElementRequest, move: Exclude<Move, 'cancel'>): boolean {
	const repeated = request.status === transitions[move].to && request.reviewer_user_id === null;
	if (repeated) return false;
	requirePending(request);
	return true;
}

/** Throws `conflict` unless the request is pending. */
export function requirePending({ status }: ElementRequest): void {
	if (status !== 'pending') throw new Failure('conflict', `the request is already ${status}`);
}
