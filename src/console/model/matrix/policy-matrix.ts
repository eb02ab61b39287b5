import { groupBy } from '../group-by.js';
import { automaticPrefix, type PolicyRole, type PolicySchema, type SetRule } from './policy-schema.js';

/** Matrix column: a role or user set. */
export interface MatrixColumn {
	/** Unique, readable id: the column's kind and key. */
	readonly id: string;
	readonly kind: 'role' | 'resource_role' | 'user_set';
	readonly key: string;
	/** Resource of a resource role, or of a user set that names roles on the resource. */
	readonly resource: string | null;
	readonly name: string;
}

export interface MatrixAction {
	readonly resource: string;
	readonly action: string;
}

/** Step from a role on an instance to a role on a related instance. */
export interface DerivedStep {
	/** Derived role, as `<resource>:<role>`. */
	readonly role: string;
	/** Relation through which the role is derived. */
	readonly relation: string;
}

/** Reason why a cell's action is granted. */
export type CellReason =
	| { readonly by: 'own' }
	/** Key of the extended role. */
	| { readonly by: 'extends'; readonly role: string }
	/**
	 * Roles on related instances, step by step. The last role grants the action, either directly or through an extended
	 * role.
	 */
	| { readonly by: 'derivation'; readonly steps: readonly DerivedStep[]; readonly through: string | null }
	/** A rule for the set itself or for its parent set. */
	| { readonly by: 'rule'; readonly rule: SetRule; readonly parent: string | null };

/**
 * How a cell's action is granted: by the role itself, by an extended role or parent set, by a role on a related
 * instance, or by a condition set rule. `apart` means that the role belongs to a different resource and cannot grant
 * the action.
 */
export type CellState = 'granted' | 'inherited' | 'derived' | 'condition' | 'none' | 'apart';

/** Matrix cell with its reasons. The strongest reason is first. */
export interface MatrixCell {
	readonly state: CellState;
	readonly reasons: readonly CellReason[];
}

/** Permission matrix for a schema. */
export interface PolicyMatrix {
	readonly schema: PolicySchema;
	/** Tenant roles, resource roles grouped by resource, and user sets. Each group is sorted by key. */
	readonly columns: readonly MatrixColumn[];
	cell(column: MatrixColumn, place: MatrixAction): MatrixCell;
	/**
	 * Returns the resources whose actions a column may grant. For a resource role: its own resource, and each resource
	 * with a role derived from it.
	 */
	reach(column: MatrixColumn): ReadonlySet<string>;
}

/** Creates the matrix for a schema. Cells are computed on demand. */
export function policyMatrix(schema: PolicySchema): PolicyMatrix {
	const rules = groupBy(schema.rules, ({ user_set, permission }) => `${user_set} ${permission}`);
	const rulesBy = (set: string, { resource, action }: MatrixAction) => rules.get(`${set} ${resource}:${action}`) ?? [];
	const derived = derivedRoles(schema);
	const reasons = {
		role: (column: MatrixColumn, place: MatrixAction): readonly CellReason[] => {
			const permission = `${place.resource}:${place.action}`;
			const byRole = rulesBy(automaticPrefix + column.key, place);
			return [
				...roleReasons(schema.roles, column.key, permission),
				...byRole.map((rule) => ({ by: 'rule' as const, rule, parent: null })),
			];
		},
		resource_role: (column: MatrixColumn, place: MatrixAction): readonly CellReason[] => {
			const own = place.resource === column.resource ? resourceRoleReasons(schema, column, place.action) : [];
			const steps = derived(columnRole(column)).get(place.resource) ?? [];
			return [...own, ...steps.flatMap((way) => derivedReason(schema, way, place.action))];
		},
		user_set: ({ key }: MatrixColumn, place: MatrixAction): readonly CellReason[] =>
			[key, ...parents(schema, key)].flatMap((set) =>
				rulesBy(set, place).map((rule) => ({ by: 'rule' as const, rule, parent: set === key ? null : set })),
			),
	};
	return {
		schema,
		columns: matrixColumns(schema),
		cell: (column, place) => {
			const found = reasons[column.kind](column, place);
			return { state: cellState(found, column, place), reasons: found };
		},
		reach: (column) =>
			column.resource === null
				? new Set(schema.resources.keys())
				: new Set([column.resource, ...(column.kind === 'user_set' ? [] : derived(columnRole(column)).keys())]),
	};
}

function matrixColumns(schema: PolicySchema): readonly MatrixColumn[] {
	const column = (kind: MatrixColumn['kind'], id: string, { key, name, resource }: Omit<PolicyRole, 'kind'>) => {
		return { id: `${kind} ${id}`, kind, key, name, resource };
	};
	return [
		...[...schema.roles].map(([id, role]) => column('role', id, role)),
		...[...schema.resourceRoles].map(([id, role]) => column('resource_role', id, role)),
		...[...schema.userSets].map(([id, { key, name, resource }]) => {
			return { id: `user_set ${id}`, kind: 'user_set' as const, key, name, resource };
		}),
	];
}

/** Returns a column's role name. For a resource role, this is `<resource>:<role>`. */
export function columnRole({ resource, key }: MatrixColumn): string {
	return resource === null ? key : `${resource}:${key}`;
}

function cellState(reasons: readonly CellReason[], { resource }: MatrixColumn, place: MatrixAction): CellState {
	const [first] = reasons;
	if (first === undefined) return resource === null || resource === place.resource ? 'none' : 'apart';
	if (first.by === 'own') return 'granted';
	if (first.by === 'extends') return 'inherited';
	if (first.by === 'derivation') return 'derived';
	return first.parent === null ? 'condition' : 'inherited';
}

/**
 * Returns the reasons why a role grants a permission: the role's own grant, and the nearest extended role that has the
 * grant.
 */
function roleReasons(
	roles: ReadonlyMap<string, PolicyRole>,
	name: string,
	permission: string,
	within = '',
): readonly CellReason[] {
	const reasons: CellReason[] = [];
	if (roles.get(name)?.permissions.has(permission)) reasons.push({ by: 'own' });
	const through = extendedRoles(roles, name, within).find((one) => roles.get(one)?.permissions.has(permission));
	if (through !== undefined) reasons.push({ by: 'extends', role: through.slice(within.length) });
	return reasons;
}

function resourceRoleReasons({ resourceRoles }: PolicySchema, column: MatrixColumn, action: string) {
	return roleReasons(resourceRoles, columnRole(column), action, `${column.resource}:`);
}

/** Returns all directly and indirectly extended roles, nearest first. */
function extendedRoles(roles: ReadonlyMap<string, PolicyRole>, name: string, within: string): readonly string[] {
	const found = new Set([name]);
	for (const one of found) for (const key of roles.get(one)?.extends ?? []) found.add(within + key);
	found.delete(name);
	return [...found];
}

/** Returns the ancestors of a user set, nearest first. */
function parents({ userSets }: PolicySchema, key: string): readonly string[] {
	const found = new Set([key]);
	for (const one of found) {
		const parent = userSets.get(one)?.parent;
		if (parent) found.add(parent);
	}
	found.delete(key);
	return [...found];
}

/** Paths from a role to its derived roles, keyed by the derived role's resource. */
type DerivedWays = ReadonlyMap<string, readonly (readonly DerivedStep[])[]>;

/** Finds the roles derived from a role, nearest first. Each has the shortest path to it. Caches the results. */
function derivedRoles({ resourceRoles }: PolicySchema): (role: string) => DerivedWays {
	const edges = [...resourceRoles].flatMap(([role, { derivations }]) =>
		derivations.map(({ role: source, on_resource, linked_by_relation }) => {
			return { source: `${on_resource}:${source}`, step: { role, relation: linked_by_relation } };
		}),
	);
	const stepsFrom = groupBy(edges, ({ source }) => source);
	const known = new Map<string, DerivedWays>();
	const find = (role: string): DerivedWays => {
		const ways = new Map<string, readonly DerivedStep[]>([[role, []]]);
		for (const [reached, way] of ways) {
			for (const { step } of stepsFrom.get(reached) ?? []) {
				if (!ways.has(step.role)) ways.set(step.role, [...way, step]);
			}
		}
		ways.delete(role);
		return groupBy(ways.values(), (way) => resourceRoles.get(way.at(-1)?.role ?? '')?.resource ?? '');
	};
	return (role) => {
		const found = known.get(role) ?? find(role);
		known.set(role, found);
		return found;
	};
}

/** Returns the path to a derived role as a reason if the derived role grants the action. */
function derivedReason(
	{ resourceRoles }: PolicySchema,
	steps: readonly DerivedStep[],
	action: string,
): readonly CellReason[] {
	const role = steps.at(-1)?.role ?? '';
	const [reason] = roleReasons(resourceRoles, role, action, `${resourceRoles.get(role)?.resource}:`);
	if (reason === undefined) return [];
	return [{ by: 'derivation', steps, through: reason.by === 'extends' ? reason.role : null }];
}
