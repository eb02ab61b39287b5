/**
 * Layered derivation graphs. Each instance is related to all instances in the next layer, so the number of paths
 * multiplies with each layer.
 */
import type { Model, Relationship, Resource, Schema } from '../../compiler/model.js';

/** Shape of a layered graph. */
export interface Layers {
	/** Length of the derivation chain, in resource types. */
	readonly depth: number;
	/** Instances per type, except the first type, which has a single instance. */
	readonly width: number;
	/** Roles per type. Each role is derived from all roles on the next type. */
	readonly roles?: number;
	/** Number of relations from each type to the next type. */
	readonly relations?: number;
	/**
	 * Derives the first role from itself along a chain of each type's instances. An assigned role on an instance blocks
	 * the derivation if it is `interruptible`.
	 */
	readonly cycle?: 'closed' | 'interruptible';
}

/** Returns a layer's resource type. */
export const layerName = (number: number) => `layer${number}`;

const named = (key: string) => ({ key, name: key, description: null });
const range = (length: number) => Array.from({ length }, (_, index) => index);

/**
 * Returns the whole environment. Ann has a role on `apart`, an instance without relationships. Ben has a role on the
 * first instance in the last layer, so he also has a role on `only`, the instance in the first layer.
 */
export function layeredGraph(layers: Layers): Model {
	const { depth, width } = layers;
	const instances = range(depth + 1).flatMap((number) =>
		keysIn(number, width).map((key) => ({ type: layerName(number), key, tenant: 'acme' })),
	);
	const last = layerName(depth);
	return {
		schema: layersSchema(layers),
		facts: {
			user_attributes: [],
			instance_attributes: [],
			role_assignments: [],
			users: ['ann', 'ben'],
			tenants: [{ key: 'acme', attributes: {} }],
			instances: [...instances, { type: last, key: 'apart', tenant: 'acme' }],
			instance_assignments: [
				{ user: 'ann', role: 'role0', type: last, instance: 'apart' },
				{ user: 'ben', role: 'role0', type: last, instance: keysIn(depth, width)[0] ?? '' },
			],
			relationships: range(depth + 1).flatMap((number) => layerRelationships(number, layers)),
		},
	};
}

function keysIn(number: number, width: number): readonly string[] {
	return number === 0 ? ['only'] : range(width).map((index) => `${number}-${index}`);
}

function layersSchema({ depth, roles = 1, relations = 1, cycle }: Layers): Schema {
	const resources = range(depth + 1).map((number): Resource => {
		const upwards = number === depth ? [] : range(relations).map((index) => `up${index}`);
		return {
			...named(layerName(number)),
			actions: [named('read')],
			roles: range(roles).map((index) => ({
				...named(`role${index}`),
				permissions: ['read'],
				extends: [],
				no_direct_roles_on_object: false,
				derivations: [
					...upwards.flatMap((relation) =>
						range(roles).map((source) => ({ relation, role: `role${source}`, no_direct_roles_on_object: false })),
					),
					...(cycle === undefined || index > 0
						? []
						: [{ relation: 'beside', role: 'role0', no_direct_roles_on_object: cycle === 'interruptible' }]),
				],
			})),
			relations: [
				...upwards.map((relation) => ({ ...named(relation), subject: layerName(number + 1) })),
				...(cycle === undefined ? [] : [{ ...named('beside'), subject: layerName(number) }]),
			],
		};
	});
	return { condition_sets: [], set_rules: [], resources, roles: [] };
}

function layerRelationships(number: number, { depth, width, relations = 1, cycle }: Layers): readonly Relationship[] {
	const keys = keysIn(number, width);
	const type = layerName(number);
	const next = number === depth ? [] : keysIn(number + 1, width);
	const upwards = keys.flatMap((instance) =>
		next.flatMap((subject) =>
			range(relations).map((index) => ({
				type,
				instance,
				relation: `up${index}`,
				subject_type: layerName(number + 1),
				subject,
			})),
		),
	);
	const beside = keys.slice(1).map((instance, index) => ({
		type,
		instance,
		relation: 'beside',
		subject_type: type,
		subject: keys[index] ?? '',
	}));
	return cycle === undefined ? upwards : [...upwards, ...beside];
}
