import fc, { type GeneratorValue } from 'fast-check';
import { type Document, drawDocument, type Json, mapValues } from './documents.js';
import { ends } from './simulation.js';

/** Random environment documents with attributes for condition sets, and with expiring grants. */

const levels = [0, 1, 2] as const;

/** Times for decisions: before any grant expires, and at each expiry. */
export const times = [0, ...ends.map((end) => Date.parse(end))];

/** Draws a document. */
export function drawDecidingDocument(random: GeneratorValue): Document & Json {
	const draw = <T>(arbitrary: fc.Arbitrary<T>): T => random((given: fc.Arbitrary<T>) => given, arbitrary);
	const { schema, facts, ...document } = drawDocument(random);
	const several = <T>(list: readonly T[]) => draw(fc.shuffledSubarray([...list]));
	const leveled = (name: string, entries: unknown) =>
		mapValues(entries as Readonly<Record<string, Json>>, (entry) => {
			const level = draw(fc.constantFrom(undefined, ...levels));
			if (level === undefined) return entry;
			return { ...entry, attributes: { ...(entry['attributes'] as Json | undefined), [name]: level } };
		});
	const expiring = (links: unknown) =>
		(links as readonly Json[]).map((link) => {
			const expires_at = draw(fc.constantFrom(undefined, undefined, ...ends));
			return expires_at === undefined ? link : { ...link, expires_at };
		});
	const resources = mapValues({ ...schema.resources, core: coreResource(several) }, (one) => ({
		...one,
		attributes: { ...('attributes' in one ? (one.attributes as Json) : {}), status: { type: 'number' } },
	}));
	const targets = Object.entries(resources).flatMap(([type, { actions }]) =>
		Object.keys(actions).flatMap((action) =>
			levels.map((level) => ({ permission: `${type}:${action}`, resource_set: setKey(type, level) })),
		),
	);
	const rules = levels.flatMap((level) => targets.map((target) => ({ user_set: setKey('user', level), ...target })));
	return {
		...document,
		schema: {
			...schema,
			resources,
			user_attributes: { ...schema.user_attributes, level: { type: 'number' } },
			condition_sets: { ...schema.condition_sets, ...userSets(), ...resourceSets(Object.keys(resources)) },
			roles: { ...schema.roles, member: { name: 'Member', permissions: several(['core:read', 'core:write']) } },
			set_rules: [...schema.set_rules, ...draw(fc.shuffledSubarray(rules, { maxLength: Math.min(8, rules.length) }))],
		},
		facts: {
			...facts,
			tenants: { ...facts.tenants, acme: { name: 'Acme' } },
			users: leveled('level', { ...facts.users, ann: {}, ben: {} }),
			resource_instances: leveled('status', { ...(facts['resource_instances'] as Json), ...coreInstances }),
			role_assignments: expiring([...(facts['role_assignments'] as readonly Json[]), ...several(coreAssignments)]),
			relationship_tuples: expiring([...(facts['relationship_tuples'] as readonly Json[]), ...several(coreTuples)]),
		},
	};
}

/** Returns a resource shared by all documents, so histories use the same objects again. */
function coreResource(several: <T>(list: readonly T[]) => readonly T[]) {
	const derived = { role: 'viewer', on_resource: 'core', linked_by_relation: 'parent' };
	const role = (permissions: readonly string[]) => ({
		name: 'Role',
		permissions: several(permissions),
		granted_to: { users_with_role: several([derived]) },
	});
	return {
		name: 'Core',
		actions: { read: { name: 'Read' }, write: { name: 'Write' } },
		relations: { parent: { name: 'Parent', subject_resource: 'core' } },
		roles: { viewer: role(['read']), editor: role(['read', 'write']) },
	};
}

const coreInstances = { 'core:x': { tenant: 'acme' }, 'core:y': { tenant: 'acme' }, 'core:z': { tenant: 'acme' } };

const coreTuples = ['core:x', 'core:y'].flatMap((subject) =>
	['core:y', 'core:z'].map((object) => ({ subject, relation: 'parent', object })),
);

const coreAssignments = ['ann', 'ben'].flatMap((user) => [
	{ user, role: 'member', tenant: 'acme' },
	...['viewer', 'editor'].flatMap((role) =>
		Object.keys(coreInstances).map((resource_instance) => ({ user, role, resource_instance })),
	),
]);

const setKey = (type: string, level: number) => `level_of_${type}_${level}`;

function userSets() {
	const set = (level: number) => ({ name: 'Level', type: 'userset', conditions: { 'user.level': { equals: level } } });
	return Object.fromEntries(levels.map((level) => [setKey('user', level), set(level)]));
}

function resourceSets(types: readonly string[]) {
	const set = (resource: string, level: number) => {
		const conditions = { 'resource.status': { equals: level } };
		return { name: 'Status', type: 'resourceset', resource, conditions };
	};
	const entries = types.flatMap((type) => levels.map((level) => [setKey(type, level), set(type, level)] as const));
	return Object.fromEntries(entries);
}
