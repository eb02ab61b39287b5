import fc from 'fast-check';
import type { Expiring, Model } from '../../compiler/model.js';
import { expiry } from './history.js';

/** Adds expiries to some rows. */
function expiring<T extends object>(rows: readonly T[], expiries: readonly Expiring[]): readonly (T & Expiring)[] {
	return rows.map((row, index) => ({ ...row, ...expiries[index % expiries.length] }));
}

/** Returns models with the same schema, in which some grants expire at 1, 2 or 3. */
export function expiringModels(models: fc.Arbitrary<readonly Model[]>): fc.Arbitrary<readonly Model[]> {
	return fc.tuple(models, fc.array(expiry, { minLength: 7, maxLength: 29 })).map(([drawn, expiries]) =>
		drawn.map(({ schema, facts }) => ({
			schema,
			facts: {
				...facts,
				role_assignments: expiring(facts.role_assignments, expiries),
				instance_assignments: expiring(facts.instance_assignments, expiries.slice(1)),
				relationships: expiring(facts.relationships, expiries.slice(2)),
			},
		})),
	);
}
