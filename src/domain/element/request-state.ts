import { Failure, forbidden } from '../../failure.js';
import type { ElementRequest } from '../../store/table/element-request.js';

/** What can be done to a request (spec: States and transitions). */
export type Move = 'approve' | 'deny' | 'cancel';

/** Who may do it, and the state after it. */
interface Transition {
	readonly by: 'reviewer' | 'requester';
	readonly to: ElementRequest['status'];
}

/**
 * The moves of a request. Each starts from `pending`, the only state that is not final: the specification does not say
 * which states a move accepts (docs/contract.md: Elements).
 */
export const transitions: Readonly<Record<Move, Transition>> = {
	approve: { by: 'reviewer', to: 'approved' },
	deny: { by: 'reviewer', to: 'denied' },
	cancel: { by: 'requester', to: 'canceled' },
};

/** Who moves a request. */
export interface Mover {
	readonly user_id: string;
	/** Whether they review this request. */
	readonly reviews: boolean;
	/** Whether requesters may approve and deny their own requests. */
	readonly self_review: boolean;
}

/**
 * Whether a move changes a request: `false` if the same user made the same move before. Throws `forbidden` for users who
 * may not make the move, and `conflict` for a request that is not pending.
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
 * As `decideMove`, for whoever administers the environment and is no user of it: they review every request, and `false`
 * says that one of them made the move before.
 */
export function decideAdministeredMove(request: ElementRequest, move: Exclude<Move, 'cancel'>): boolean {
	const repeated = request.status === transitions[move].to && request.reviewer_user_id === null;
	if (repeated) return false;
	requirePending(request);
	return true;
}

/** Throws `conflict` unless the request can still be changed. */
export function requirePending({ status }: ElementRequest): void {
	if (status !== 'pending') throw new Failure('conflict', `the request is ${status} already`);
}
