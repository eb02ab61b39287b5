/**
 * Small models with each form of condition on roles and on related instances, for users with each role combination.
 * Checks equal the oracle, and all listings from the facts index equal the engine's listings.
 */
import test, { type ExecutionContext } from 'ava';
import { everyone } from '../../compiler/everyone.js';
import type { ConditionSet, Facts, Json, Model, Resource, ResourceRole, Schema } from '../../compiler/model.js';
import { runToEnd } from '../../compiler/steps.js';
import type { DecisionContext } from '../../src/pdp/decide/decide.js';
import type { EngineInput } from '../../src/pdp/engine/engine.js';
import { authorizedUsers } from '../../src/pdp/listing/authorized-users.js';
import { roleConditions, roleExpression } from '../compiler/model.js';
import { noFacts } from '../support/no-facts.js';
import { compareListings, contextFor } from './compare-listings.js';
import { decide } from './oracle.js';
import { answered, type Question } from './questions.js';

const range = (length: number) => Array.from({ length }, (_, index) => index);
const named = (key: string) => ({ key, name: key, description: null });

function role(key: string, more: Partial<ResourceRole> = {}): ResourceRole {
	const none = { permissions: [], extends: [], derivations: [], no_direct_roles_on_object: false };
	return { ...named(key), ...none, ...more };
}

const all: ConditionSet = {
	...named('all'),
	type: 'resourceset',
	resource: 'document',
	parent: null,
	selects: { resource: 'document' },
};

const relationsToFolder = [{ ...named('parent'), subject: 'folder' }];

/** Returns a schema with an action for each permission in the roles, and an action with a rule for each set. */
function schemaWith(
	roles: readonly ResourceRole[],
	sets: readonly ConditionSet[],
	folderRoles: readonly ResourceRole[] = [],
): Schema {
	const actions = [...roles.flatMap(({ permissions }) => permissions), ...sets.map(({ key }) => key)];
	const document: Resource = {
		...named('document'),
		actions: [...new Set(actions)].map(named),
		roles,
		relations: relationsToFolder,
	};
	const folder: Resource = { ...named('folder'), actions: [], roles: folderRoles, relations: relationsToFolder };
	return {
		resources: [document, folder],
		roles: [],
		condition_sets: [...sets, all],
		set_rules: sets.map(({ key, type }) => ({
			user_set: type === 'userset' ? key : 'anybody',
			resource_set: type === 'userset' ? 'all' : key,
			resource: 'document',
			action: key,
		})),
	};
}

function userSet(key: string, conditions: Json): ConditionSet {
	return { ...named(key), type: 'userset', resource: 'document', parent: null, selects: { conditions } };
}

const keys = ['a', 'b', 'c'];
/** Returns numbers that select each form of an expression, with its roles in each order. */
const choices = (forms: number) => range(forms).flatMap((form) => [0, 1, 2].map((turn) => 4 * form + turn));

/** Users hold each combination of three roles on `one`. In conditions, a role does not imply the roles it extends. */
const everyForm: Model = {
	schema: schemaWith(
		[
			...choices(8).map((choice) => {
				return role(`r${choice}`, { permissions: [`computed-${choice}`], computed: roleExpression(keys, choice) });
			}),
			role('a', { permissions: ['plain'], extends: ['c'] }),
			role('b'),
			role('c', { permissions: ['of-c'] }),
		],
		[
			...choices(9).map((choice) => userSet(`set-${choice}`, roleConditions(keys, choice))),
			...choices(3).map((choice) => ({
				...userSet(`child-${choice}`, roleConditions(keys, choice + 4)),
				parent: `set-${choice}`,
			})),
		],
	),
	facts: {
		...noFacts,
		users: range(8).map((index) => `u${index}`),
		tenants: [{ key: 'ta', attributes: {} }],
		user_attributes: range(8).map((index) => ({
			user: `u${index}`,
			attributes: { level: index % 3, ...(index % 2 === 0 && { seen: '1900-01-01T00:00:00.000Z' }) },
		})),
		instances: ['one', 'two'].map((key) => ({ type: 'document', key, tenant: 'ta' })),
		instance_assignments: range(8).flatMap((index) =>
			keys.flatMap((key, bit) =>
				(index >> bit) & 1 ? [{ user: `u${index}`, role: key, type: 'document', instance: 'one' }] : [],
			),
		),
	},
};

/** Everyone holds a role on the document `one` and on the folder above its folder. Some users hold no other role. */
const everyoneHolds: Model = {
	schema: schemaWith(
		[
			role('seen', { public: true, permissions: ['see'] }),
			role('inside', {
				permissions: ['enter'],
				derivations: [{ relation: 'parent', role: 'inside', no_direct_roles_on_object: false }],
			}),
			role('guest', {
				permissions: ['visit'],
				derivations: [{ relation: 'parent', role: 'inside', no_direct_roles_on_object: true }],
			}),
			role('own', { permissions: ['own'] }),
			role('quiet', { computed: { allOf: ['own', { not: 'own' }] } }),
		],
		choices(9).map((choice) => userSet(`set-${choice}`, roleConditions(['seen', 'inside', 'guest', 'own'], choice))),
		[
			role('inside', {
				public: true,
				derivations: [{ relation: 'parent', role: 'inside', no_direct_roles_on_object: false }],
			}),
		],
	),
	facts: {
		...noFacts,
		users: ['ann', 'ben', 'cat'],
		tenants: [{ key: 'ta', attributes: {} }],
		instances: [
			...['one', 'two', 'three'].map((key) => ({ type: 'document', key, tenant: 'ta' })),
			...['low', 'high', 'other'].map((key) => ({ type: 'folder', key, tenant: 'ta' })),
		],
		instance_assignments: [
			{ user: '*', role: 'seen', type: 'document', instance: 'one' },
			{ user: '*', role: 'inside', type: 'folder', instance: 'high' },
			{ user: 'ann', role: 'own', type: 'document', instance: 'one' },
			{ user: 'ann', role: 'own', type: 'document', instance: 'two' },
			{ user: 'ben', role: 'inside', type: 'folder', instance: 'other' },
		],
		relationships: [
			['document', 'one', 'low'],
			['document', 'two', 'low'],
			['document', 'three', 'other'],
			['folder', 'low', 'high'],
		].map(([type = '', instance = '', subject = '']) => {
			return { type, instance, relation: 'parent', subject_type: 'folder', subject };
		}),
	},
};

const fromFolder = (level: number) => ({
	object_match: { match: { level: { equals: level } }, fk_resource_type: 'folder' },
});

/** The attribute `of` names a folder in the same tenant, a folder in another tenant, or a missing folder. */
const relatedInstances: Model = {
	schema: (() => {
		const bound = (key: string, conditions: Json): ConditionSet => {
			return { ...named(key), type: 'resourceset', resource: 'document', parent: null, selects: { conditions } };
		};
		const sets = [
			{ ...userSet('of-user', { 'user.of': fromFolder(1) }), resource: null },
			{ ...userSet('not-of-user', { 'user.of': { not: fromFolder(1) } }), resource: null },
			bound('of-resource', { 'resource.of': fromFolder(1) }),
			bound('not-of-resource', { 'resource.of': { not: fromFolder(1) } }),
		];
		const schema = schemaWith([role('viewer')], sets);
		const anybody = { ...userSet('anybody', {}), resource: null };
		return { ...schema, condition_sets: [...schema.condition_sets, anybody] };
	})(),
	facts: {
		...noFacts,
		users: ['ann', 'ben', 'cat', 'dan'],
		tenants: ['ta', 'tb'].map((key) => ({ key, attributes: {} })),
		user_attributes: [
			{ user: 'ann', attributes: { of: 'here' } },
			{ user: 'ben', attributes: { of: 'there' } },
			{ user: 'cat', attributes: { of: 'nowhere' } },
		],
		instances: [
			...['one', 'two', 'three'].map((key) => ({ type: 'document', key, tenant: 'ta' })),
			{ type: 'document', key: 'four', tenant: 'tb' },
			{ type: 'folder', key: 'here', tenant: 'ta' },
			{ type: 'folder', key: 'there', tenant: 'tb' },
		],
		instance_attributes: [
			...[
				['one', 'here'],
				['two', 'there'],
				['three', 'nowhere'],
				['four', 'there'],
			].map(([key = '', of = '']) => ({ type: 'document', key, attributes: { of } })),
			...['here', 'there'].map((key) => ({ type: 'folder', key, attributes: { level: 1 } })),
		],
	},
};

/** Returns questions for every user, action and instance, with each tenant. */
function questionsOf({ schema, facts }: { readonly schema: Schema; readonly facts: Facts }): readonly Question[] {
	const actions = schema.resources.find(({ key }) => key === 'document')?.actions ?? [];
	const documents = facts.instances.filter(({ type }) => type === 'document');
	return [...facts.users, 'nobody'].flatMap((user) =>
		actions.flatMap(({ key: action }) =>
			facts.tenants.flatMap(({ key: tenant }) => [
				{ user: { key: user }, action, resource: { type: 'document', tenant } },
				...documents.map(({ key }) => ({ user: { key: user }, action, resource: { type: 'document', key, tenant } })),
			]),
		),
	);
}

for (const [title, model] of [
	['every form, with every combination of roles', everyForm],
	['roles assigned to everyone, and users without own roles', everyoneHolds],
	['instances in the same and in another tenant', relatedInstances],
] as const) {
	test(`conditions on roles and instances: ${title}`, async (t) => {
		const context = await contextFor(model);
		const questions = questionsOf(model);
		const { time } = context;
		const codes = questions.map((question) => context.engine.code({ ...question, time } as unknown as EngineInput));
		t.deepEqual(
			answered(questions, codes),
			answered(
				questions,
				questions.map((question) => decide(model, question).code),
			),
		);
		t.true(new Set(codes).size > 1 && codes.includes('allow'));
		const countDifference = () => t.fail('the index and the engine differ');
		t.true(compareListings(t, { ...context, countDifference }, model) > 0);
		listAllowedUsers(t, context, model);
	});
}

/** Asserts that the authorized user lists, with conditions, equal the oracle's lists. */
function listAllowedUsers(t: ExecutionContext, context: DecisionContext, model: Model): void {
	const { schema, facts } = model;
	for (const { type, key, tenant } of facts.instances) {
		for (const { key: action } of schema.resources.find((own) => own.key === type)?.actions ?? []) {
			const asked = { action, resource: { type, key, tenant } };
			const listing = authorizedUsers(context, { ...asked, context: { enable_abac_authorized_users: true } });
			const { users } = JSON.parse(runToEnd(listing).join('')) as { readonly users: object };
			const listed = Object.keys(users).flatMap((user) => (user === everyone ? facts.users : [user]));
			const allowed = facts.users.filter((user) => decide(model, { user: { key: user }, ...asked }).allow);
			t.deepEqual([...new Set(listed)].sort(), [...allowed].sort(), JSON.stringify(asked));
		}
	}
}
