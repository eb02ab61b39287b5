import { Failure, forbidden } from '../../failure.js';
import type { ElementRequest } from '../../store/table/element-request.js';

/** A move on a request. */
export type Move = 'approve' | 'deny' | 'cancel';

/** The permitted user, and the resulting state. */
interface Transition {
	readonly by: 'reviewer' | 'requester';
	readonly to: ElementRequest['status'];
}

/**
 * Moves on a request. Each starts from `pending`, the only state that is not final: the specification does not define
 * the accepted states ([Elements](../../../docs/develop/contract.md)).
 */
export const transitions: Readonly<Record<Move, Transition>> = {
	approve: { by: 'reviewer', to: 'approved' },
	deny: { by: 'reviewer', to: 'denied' },
	cancel: { by: 'requester', to: 'canceled' },
};

/** The user who moves a request. */
export interface Mover {
	readonly user_id: string;
	/** True if the user reviews this request. */
	readonly reviews: boolean;
	/** True if requesters may approve and deny their own requests. */
	readonly self_review: boolean;
}

/**
 * Decides whether a move changes a request: `false` if the same user has already made the same move. Throws `forbidden`
 * for users without permission, and `conflict` if the request is not pending.
 */
export function decideMove(request: ElementRequest, move: Move, { user_id, reviews, self_review }: Mover): boolean {
	const { by, to } = transitions[move];
	const own = request.requesting_user_id === user_id;
	if (by === 'requester' && !own) throw forbidden('only the user who made a request can cancel it');
	if (by === 'reviewer' && !reviews) throw forbidden('only reviewers can approve or deny a request');
	if (by === 'reviewer' && own && !self_review) throw forbidden('nobody reviews a request of their own');
	if (request.status === 'pending') return true;
	const repeated = request.status === to && (by === 'requester' || request.reviewer_user_id === user_id);
	if (repeated) return false;
	throw new Failure('conflict', `the request is ${request.status} already`);
}

/**
 * Like `decideMove`, for environment administrators, who are not users in the environment: they review every request.
 * Returns `false` if an administrator has already made the move.
 */
export function decideAdministeredMove(request: ElementRequest, move: Exclude<Move, 'cancel'>): boolean {
	const repeated = request.status === transitions[move].to && request.reviewer_user_id === null;
	if (repeated) return false;
	requirePending(request);
	return true;
}

/** Throws `conflict` unless the request is pending. */
export function requirePending({ status }: ElementRequest): void {
	if (status !== 'pending') throw new Failure('conflict', `the request is ${status} already`);
}
