import type { Expiring, Facts, Model } from '../../compiler/model.js';

/** Returns the model without expired grants. Expiry has no other effect. */
export function modelAt({ schema, facts }: Model, time: number): Model {
	return { schema, facts: { ...facts, ...grantsAt(facts, time) } };
}

function grantsAt({ role_assignments, instance_assignments, relationships }: Facts, time: number) {
	const holds = ({ expires_at = Number.POSITIVE_INFINITY }: Expiring) => expires_at > time;
	return {
		role_assignments: role_assignments.filter(holds).map(lasting),
		instance_assignments: instance_assignments.filter(holds).map(lasting),
		relationships: relationships.filter(holds).map(lasting),
	};
}

function lasting<T extends Expiring>({ expires_at: _, ...row }: T): Omit<T, 'expires_at'> {
	return row;
}
