/** Validates contextual facts against the schema and the stored objects, with the messages of the management API. */

import { Failure, mismatchedRelation, mismatchedTenants, notFound, type Problem } from '../../failure.js';
import type { ContextualFacts, ContextualTuple } from '../../wire/decision/contextual-facts.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { instanceType } from '../facts/instance-name.js';
import type { SchemaTables } from '../facts/schema-tables.js';

/** Returns the problems with contextual facts. `place` is the location of the facts. */
export function contextualProblems(
	facts: FactsIndex,
	given: ContextualFacts,
	place: Problem['loc'],
): readonly Problem[] {
	const at = (list: keyof ContextualFacts, index: number) => (field: string, failure: Failure) => ({
		loc: [...place, list, index, field],
		msg: failure.message,
		type: failure.code,
	});
	return [
		...(given.role_assignments ?? []).flatMap(({ user, role, resource_instance: instance }, index) => {
			const problem = at('role_assignments', index);
			const known = facts.tenantKey(instance) !== undefined;
			return [
				...(facts.hasUser(user) ? [] : [problem('user', notFound('User', user))]),
				...(known ? [] : [problem('resource_instance', notFound('ResourceInstance', instance))]),
				...(known ? roleProblems(facts.schema, instanceType(instance), role).map((one) => problem('role', one)) : []),
			];
		}),
		...(given.relationship_tuples ?? []).flatMap((tuple, index) => {
			const problem = at('relationship_tuples', index);
			const missing = (['subject', 'object'] as const).filter((side) => facts.tenantKey(tuple[side]) === undefined);
			if (missing.length > 0) return missing.map((side) => problem(side, notFound('ResourceInstance', tuple[side])));
			const [field, failure] = relationProblem(facts, tuple) ?? [];
			return field === undefined || failure === undefined ? [] : [problem(field, failure)];
		}),
	];
}

function roleProblems(schema: SchemaTables, type: string, role: string): readonly Failure[] {
	if (!schema.rolesOn(type).includes(role)) return [notFound('Role', role)];
	if (schema.computed(type, role) === undefined) return [];
	const msg = `the role \`${role}\` on \`${type}\` is computed from other roles and cannot be assigned: assign the other roles`;
	return [new Failure('invalid', msg)];
}

/** Returns the problem with a tuple between stored instances. */
function relationProblem(
	facts: FactsIndex,
	{ subject, relation, object }: ContextualTuple,
): readonly [field: string, Failure] | undefined {
	const [subjectType, objectType] = [instanceType(subject), instanceType(object)];
	const expected = facts.subjectType(objectType, relation);
	if (expected === undefined) return ['relation', notFound('Relation', relation)];
	if (expected !== subjectType) {
		return ['subject', mismatchedRelation({ subject, subjectType, relation, objectType })];
	}
	const [from, to] = [subject, object].map((name) => ({ name, tenant: facts.tenantKey(name) ?? '' }));
	if (from === undefined || to === undefined || from.tenant === to.tenant) return undefined;
	return ['subject', mismatchedTenants(from, to)];
}
