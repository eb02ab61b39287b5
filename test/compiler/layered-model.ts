/** Random layered schemas and facts, in which derivation paths diverge and meet again. */
import fc from 'fast-check';
import type { Model, Resource, ResourceRole, Schema } from '../../compiler/model.js';
import {
	chosenConditions,
	factsOfSize,
	type Material,
	placedFacts,
	plain,
	roleExpression,
	withoutExcluded,
	withSoundLinks,
} from './model.js';

/** True in an eighth of all cases. */
const seldom = fc.integer({ min: 0, max: 7 }).map((number) => number === 7);

/** Selects the conditions that a relation declares; `undefined` for most relations. */
const conditions = fc.oneof({ arbitrary: fc.constant(undefined), weight: 5 }, fc.nat({ max: 11 }));

function layerArbitrary({ key, name, description }: Material) {
	const keys = (kind: string, number: number) => fc.uniqueArray(key(kind), { minLength: number, maxLength: number });
	return fc.record({
		key: key(''),
		name,
		description,
		action: key(''),
		/** The last role exists only if roles are computed. */
		roles: keys('r', 3),
		relations: keys('n', 3),
		/**
		 * Derivations among the roles of a type: either a role derives from itself, or two roles derive from each other.
		 */
		cycle: fc.constantFrom('none', 'none', 'own', 'mutual'),
		interrupted: fc.record({ up: seldom, across: seldom, around: seldom }),
		conditions: fc.record({ up: conditions, across: conditions, around: conditions }),
		blocked: seldom,
		open: seldom,
	});
}

type Layer = ReturnType<typeof layerArbitrary> extends fc.Arbitrary<infer L> ? L : never;

/** Three or four resource types. Each role is derived from every role on the next type, in one or two ways. */
export function layeredSchema(material: Material): fc.Arbitrary<Schema> {
	return fc
		.record({
			layers: fc.uniqueArray(layerArbitrary(material), { selector: ({ key }) => key, minLength: 3, maxLength: 4 }),
			ways: fc.integer({ min: 1, max: 2 }),
			/** Selects the computed roles' expressions; null without computed roles. */
			computes: fc.option(fc.nat({ max: 59 }), { freq: 2 }),
		})
		.map(({ layers, ways, computes }) =>
			withoutExcluded(
				withSoundLinks({
					condition_sets: [],
					set_rules: [],
					roles: [],
					resources: layers.map((layer, index) =>
						computes === null
							? layerResource(layer, layers[index + 1], ways)
							: computedLayer(layer, layers[index + 1], [ways, computes + index]),
					),
				}),
			),
		);
}

/** Like `layerResource`, with a computed role. One of the other roles derives from the next layer's computed role. */
function computedLayer(layer: Layer, next: Layer | undefined, [ways, value]: readonly [number, number]): Resource {
	// Otherwise, assigned roles rarely block derivations into a cycle.
	const interrupted = { ...layer.interrupted, up: layer.interrupted.up || value % 3 === 0 };
	const resource = layerResource({ ...layer, open: layer.open || value % 4 === 0, interrupted }, next, ways);
	const computed = layer.roles[2] ?? '';
	const chosen = [...resource.roles.slice(0, 2)];
	const derives = (role: ResourceRole, index: number): ResourceRole['derivations'] =>
		role.derivations.flatMap((row) => {
			if (row.relation === layer.relations[2]) return [row];
			const [first, second, last] = next?.roles ?? [];
			if (row.role === first) return index === 0 && last !== undefined ? [{ ...row, role: last }] : [];
			return index === 1 && row.role === second && row.relation === layer.relations[0] ? [row] : [];
		});
	const keys = chosen.map(({ key }) => key);
	return {
		...resource,
		roles: [
			{
				key: computed,
				name: layer.name,
				description: layer.description,
				permissions: [layer.action],
				extends: [],
				derivations: [],
				no_direct_roles_on_object: false,
				computed: roleExpression(keys, value),
			},
			...chosen.map((role, index) => ({ ...role, permissions: [], derivations: derives(role, index) })),
		],
	};
}

function layerResource(layer: Layer, next: Layer | undefined, ways: number): Resource {
	const { key, name, description, action, relations, cycle, interrupted, conditions, blocked, open } = layer;
	const roles = layer.roles.slice(0, 2);
	const named = { name, description };
	const [up = '', across = '', around = ''] = relations;
	const upwards = [up, across].slice(0, next === undefined ? 0 : ways);
	const roleDerivations = (role: string): ResourceRole['derivations'] => [
		...upwards.flatMap((relation) =>
			(next?.roles ?? []).slice(0, 2).map((source) => ({
				relation,
				role: source,
				no_direct_roles_on_object: relation === up ? interrupted.up : interrupted.across,
			})),
		),
		...roles
			.filter((other) => (cycle === 'own' ? other === role : cycle === 'mutual' && other !== role))
			.map((other) => ({ relation: around, role: other, no_direct_roles_on_object: interrupted.around })),
	];
	return {
		key,
		...named,
		actions: [{ key: action, ...named }],
		roles: roles.map((role, index) => ({
			key: role,
			...named,
			permissions: index === 0 ? [action] : [],
			extends: [],
			derivations: roleDerivations(role),
			no_direct_roles_on_object: blocked && index === 0,
			public: open && index === 1,
		})),
		relations: [
			...upwards.map((relation) => ({
				key: relation,
				...named,
				subject: next?.key ?? '',
				...declared(relation === up ? conditions.up : conditions.across),
			})),
			{ key: around, ...named, subject: key, ...declared(conditions.around) },
		],
	};
}

function declared(chosen: number | undefined) {
	return chosen === undefined ? {} : { grant_conditions: chosenConditions(chosen) };
}

/** Several models with the same layered schema. */
export function layeredModels(count: number): fc.Arbitrary<readonly Model[]> {
	return fc
		.tuple(layeredSchema(plain), fc.array(factsOfSize(12), { minLength: count, maxLength: count }))
		.map(([schema, facts]) => facts.map((generated) => ({ schema, facts: placedFacts(schema, generated) })));
}
