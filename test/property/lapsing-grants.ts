/** Additional grants of every kind that expire at 1, because random expiries seldom decide a check. */

import fc from 'fast-check';
import { everyone } from '../../compiler/everyone.js';
import type { InstanceAssignment, Model, Relationship } from '../../compiler/model.js';
import { pick } from '../compiler/model.js';

const kinds = ['path', 'named', 'stop', 'everyone'] as const;

/** Chooses users and places for some grants of each kind. */
export const lapses = fc
	.array(fc.record({ user: fc.nat({ max: 9 }), which: fc.nat({ max: 999 }) }), {
		minLength: 6,
		maxLength: 8,
		size: 'max',
	})
	.map((chosen) => chosen.map((one, index) => ({ ...one, kind: pick(kinds, index) })));

type Lapse = (typeof lapses extends fc.Arbitrary<infer L> ? L : never)[number];

/** A relationship with a derivation that follows it. */
interface Path {
	readonly along: Relationship;
	readonly role: string;
	readonly source: string;
	readonly isBlocked: boolean;
}

/**
 * Adds expiring grants: a derived role's relationship, an assigned role that blocks a derivation, a public role, or an
 * assigned role that a rule's user set names. Omits grants without a place in the model.
 */
export function withLapses(model: Model, chosen: readonly Lapse[]): Model {
	return chosen.reduce(withLapse, model);
}

function withLapse(model: Model, { user: number, which, kind }: Lapse): Model {
	const { facts } = model;
	const user = pick(facts.users, number) ?? '';
	if (kind === 'everyone') {
		const open = facts.instances.flatMap(({ type, key }) =>
			rolesOn(model, type).flatMap((role) => (role.public ? [{ role: role.key, type, instance: key }] : [])),
		);
		const chosen = pick(open, which);
		return chosen === undefined ? model : withAssignments(model, [{ user: everyone, ...chosen, expires_at: 1 }]);
	}
	if (kind === 'named') {
		const chosen = pick(rolesNamed(model), which);
		return chosen === undefined ? model : withAssignments(model, [{ user, ...chosen, expires_at: 1 }]);
	}
	const paths = facts.relationships.flatMap((along): Path[] =>
		rolesOn(model, along.type).flatMap((role) =>
			role.derivations
				.filter(({ relation }) => relation === along.relation)
				.map((one) => ({
					along,
					role: role.key,
					source: one.role,
					isBlocked: one.no_direct_roles_on_object || role.no_direct_roles_on_object,
				})),
		),
	);
	const path = pick(kind === 'path' ? paths : paths.filter(({ isBlocked }) => isBlocked), which);
	if (path === undefined) return model;
	const { along, source } = path;
	const held = { user, role: source, type: along.subject_type, instance: along.subject };
	if (kind === 'path') {
		const relationships = facts.relationships.map((row) => (row === along ? { ...row, expires_at: 1 } : row));
		return withAssignments({ ...model, facts: { ...facts, relationships } }, [held]);
	}
	const stop = rolesOn(model, along.type).find(({ key }) => key !== path.role);
	if (stop === undefined) return model;
	const stopped = { user, role: stop.key, type: along.type, instance: along.instance, expires_at: 1 };
	return withAssignments(model, [held, stopped]);
}

/** Returns the roles named by the user sets of rules, on every instance of the resource. */
function rolesNamed(model: Model) {
	const { schema, facts } = model;
	return schema.set_rules.flatMap(({ user_set, resource: type }) => {
		const conditions = JSON.stringify(schema.condition_sets.find(({ key }) => key === user_set)?.selects ?? '');
		if (!conditions.includes('resource_roles')) return [];
		const named = rolesOn(model, type).filter(({ key }) => conditions.includes(JSON.stringify(key)));
		const instances = facts.instances.filter((instance) => instance.type === type);
		return named.flatMap((role) => instances.map(({ key: instance }) => ({ role: role.key, type, instance })));
	});
}

function rolesOn({ schema }: Model, type: string) {
	return (schema.resources.find(({ key }) => key === type)?.roles ?? []).filter(
		({ computed }) => computed === undefined,
	);
}

/** Adds assignments, each in place of an equal assignment with a different expiry. */
function withAssignments(model: Model, added: readonly InstanceAssignment[]): Model {
	const identity = ({ user, role, type, instance }: InstanceAssignment) => JSON.stringify([user, role, type, instance]);
	const names = new Set(added.map(identity));
	const others = model.facts.instance_assignments.filter((row) => !names.has(identity(row)));
	return { ...model, facts: { ...model.facts, instance_assignments: [...others, ...added] } };
}
