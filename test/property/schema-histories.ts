/** Random schema histories: an active policy, and later schemas that have no policy yet. */
import fc from 'fast-check';
import { type BrokenObject, withoutBroken } from '../../compiler/broken-objects.js';
import type { Model, Schema } from '../../compiler/model.js';
import { instanceNames, modelsOfOneSchema, pick, userNames } from '../compiler/model.js';
import type { Question } from './questions.js';
import { edited, factsUnder, rolesIn, schemaEdit } from './schema-edits.js';

/** Number of later schemas. */
const length = 4;

const models = modelsOfOneSchema(length);

/** Numbers for choosing objects to leave out of the active policy. Most policies contain the whole schema. */
const left = fc.oneof(
	{ weight: 2, arbitrary: fc.constant([]) },
	{ weight: 1, arbitrary: fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 2 }) },
);

/**
 * An active schema and several later schemas, with facts. Each later schema edits the previous schema. The active
 * schema may lack objects that did not compile.
 */
export const schemaHistories = fc
	.tuple(
		// Most schemas have rules, often for role holders. Both are rare in random schemas.
		fc.oneof(
			models,
			{ weight: 2, arbitrary: models.filter(([first]) => (first?.schema.set_rules.length ?? 0) > 1) },
			{ weight: 2, arbitrary: models.filter(([first]) => first !== undefined && hasRulesByRoles(first.schema)) },
		),
		fc.array(fc.array(schemaEdit, { minLength: 1, maxLength: 3 }), { minLength: length, maxLength: length }),
		left,
	)
	.map(([drawn, edits, broken]) => {
		let schema = drawn[0]?.schema ?? { resources: [], roles: [], condition_sets: [], set_rules: [] };
		const objects = removableObjects(schema);
		const inForce =
			broken.length === 0
				? schema
				: withoutBroken(
						schema,
						broken.flatMap((which) => pick(objects, which) ?? []),
					);
		const later = drawn.map(({ facts }, index) => {
			schema = (edits[index] ?? []).reduce(edited, schema);
			return { schema, facts: factsUnder(schema, facts), in_force: inForce };
		});
		return { inForce, later };
	});

/** True if a rule's user set names roles on the resource. */
function hasRulesByRoles({ condition_sets, set_rules }: Schema): boolean {
	const naming = condition_sets.filter(({ selects }) => rolesIn(selects).length > 0).map(({ key }) => key);
	return set_rules.some(({ user_set }) => naming.includes(user_set));
}

/** Returns the objects that a policy can leave out, except resources: without resources, little would be left. */
function removableObjects({ condition_sets, set_rules, resources }: Schema): readonly BrokenObject[] {
	return [
		...condition_sets.map(({ type, key }): BrokenObject => ({ kind: 'condition_set', type, key })),
		...set_rules.map(({ resource, action }): BrokenObject => ({ kind: 'set_rules', resource, action })),
		...resources.flatMap(({ key: resource, roles }) =>
			roles
				.filter(({ computed, derivations }) => computed !== undefined || derivations.length > 0)
				.map(({ key: role, computed }): BrokenObject => {
					return { kind: computed === undefined ? 'role_derivations' : 'computed_role', resource, role };
				}),
		),
	];
}

const users = [...userNames, 'unone'];

/** Attribute values selected by conditions in random sets. */
const levels = [0, 1, 2];

/** Returns checks about a model, including types and actions that only the active schema has. */
export function schemaQuestions({ schema, facts }: Model, inForce: Schema): readonly Question[] {
	const types = new Map([...inForce.resources, ...schema.resources].map(({ key, actions }) => [key, actions]));
	for (const { key, actions } of inForce.resources) types.set(key, [...(types.get(key) ?? []), ...actions]);
	return [...types].flatMap(([type, actions]) =>
		[null, ...instanceNames].flatMap((key) => {
			const tenant = facts.instances.find((row) => row.type === type && row.key === key)?.tenant ?? 'ta';
			const resource = key === null ? { type, tenant } : { type, tenant, key };
			return [...new Set(actions.map((action) => action.key))].flatMap((action) =>
				users.flatMap((user): readonly Question[] => [
					{ user: { key: user }, action, resource },
					...levels.map(
						(level): Question => ({
							user: { key: user, attributes: { level, status: level } },
							action,
							resource: { ...resource, attributes: { level, status: level } },
							context: { amount: level },
						}),
					),
				]),
			);
		}),
	);
}
