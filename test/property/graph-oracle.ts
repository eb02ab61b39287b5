/** A simple, slow model of an environment's graph and derived roles. Shares no code with the server. */

/** Documents, nested folders and nested teams, with relations between all three. */
export interface GraphWorld {
	readonly derivations: readonly Derivation[];
	/** Actions on documents, keyed by tenant role. */
	readonly tenantRoles: Readonly<Record<string, readonly string[]>>;
	/** Tenants, keyed by instance. */
	readonly instances: Readonly<Record<string, string>>;
	readonly groups: readonly string[];
	readonly tuples: readonly Tuple[];
	readonly assignments: readonly Assignment[];
}

/** A derivation: users with the role `source` on a subject of the relation get `role` on the relation's object. */
export interface Derivation {
	readonly type: string;
	readonly role: string;
	readonly relation: string;
	readonly source: string;
	readonly stops: boolean;
}

export interface Tuple {
	readonly subject: string;
	readonly relation: string;
	readonly object: string;
}

/** A role assignment on an instance or in a tenant. */
export interface Assignment {
	readonly user: string;
	readonly role: string;
	readonly resource_instance?: string;
	readonly tenant?: string;
}

/** Relations with their subject types, keyed by type. */
export const relations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
	team: { inner: 'team' },
	folder: { parent: 'folder', owner: 'team' },
	document: { parent: 'folder', owner: 'team', draft: 'document' },
};

/** Roles, keyed by type. */
export const roles: Readonly<Record<string, readonly string[]>> = {
	team: ['member'],
	folder: ['viewer', 'editor'],
	document: ['viewer', 'editor'],
};

/** A connection, with its kind, ends and name as strings. */
interface Connection {
	readonly from: string;
	readonly to: string;
	readonly text: string;
}

/** Returns an instance's type. */
export function typePart(name: string): string {
	return name.slice(0, name.indexOf(':'));
}

/** Returns all connections between users, tenants and instances. The ends are node ids. */
export function connections({ tuples, assignments, groups, instances }: GraphWorld): readonly Connection[] {
	const held = assignments.map(({ user, role, resource_instance, tenant }) => {
		const from = `user:${user}`;
		const to = resource_instance === undefined ? `tenant:${tenant}` : `instance:${resource_instance}`;
		const inGroup = role === 'member' && groups.includes(resource_instance ?? '');
		const kind = inGroup ? 'group_membership' : 'role_assignment';
		const at = tenant ?? instances[resource_instance ?? ''];
		return { from, to, text: `${from} ${kind} ${role} ${at} ${to}` };
	});
	const related = tuples.map(({ subject, relation, object }) => {
		const [from, to] = [`instance:${subject}`, `instance:${object}`];
		return { from, to, text: `${from} relationship ${relation} ${to}` };
	});
	return [...held, ...related];
}

/** Returns the distance from a start to each node, up to a depth. A tenant ends the walk unless it is the start. */
export function distances(world: GraphWorld, start: string, depth: number): ReadonlyMap<string, number> {
	const found = new Map([[start, 0]]);
	for (let step = 1; step <= depth; step += 1) {
		for (const { from, to } of connections(world)) {
			for (const [near, far] of [
				[from, to],
				[to, from],
			] as const) {
				const isEnd = near.startsWith('tenant:') && near !== start;
				if (found.get(near) === step - 1 && !isEnd && !found.has(far)) found.set(far, step);
			}
		}
	}
	return found;
}

/** Counts a node's neighbors outside this set. */
export function neighboursBeyond(world: GraphWorld, node: string, shown: ReadonlySet<string>): number {
	const others = connections(world).flatMap(({ from, to }) => {
		if (from !== node && to !== node) return [];
		return from === node ? [to] : [from];
	});
	return new Set(others.filter((other) => other !== node && !shown.has(other))).size;
}

/** A role on an instance, as a string. */
type State = string;

/** Formats `role` on `instance`. */
export function stateText(instance: string, role: string): State {
	return `${instance}#${role}`;
}

/**
 * Returns the roles that a single relationship derives from a role on an instance. The roles are for `user`, or for any
 * user if it is `null`.
 */
function following(world: GraphWorld, state: State, user: string | null): readonly State[] {
	const [instance = '', role = ''] = state.split('#');
	return world.tuples.flatMap(({ subject, relation, object }) => {
		if (subject !== instance) return [];
		const stopped =
			user !== null && world.assignments.some((one) => one.user === user && one.resource_instance === object);
		return world.derivations
			.filter((one) => one.type === typePart(object) && one.relation === relation && one.source === role)
			.filter((one) => relations[one.type]?.[relation] === typePart(subject) && !(one.stops && stopped))
			.map((one) => stateText(object, one.role));
	});
}

/** Returns, for each derived role, the minimum number of relationships from the starting role. */
export function reach(world: GraphWorld, start: State, user: string | null): ReadonlyMap<State, number> {
	const found = new Map([[start, 0]]);
	for (const [state, steps] of found) {
		for (const next of following(world, state, user)) if (!found.has(next)) found.set(next, steps + 1);
	}
	return found;
}

/** Returns a user's instance assignments. */
function starts(world: GraphWorld, user: string): readonly { readonly state: State; readonly group: boolean }[] {
	return world.assignments.flatMap(({ user: holder, role, resource_instance }) => {
		if (holder !== user || resource_instance === undefined) return [];
		const group = role === 'member' && world.groups.includes(resource_instance);
		return [{ state: stateText(resource_instance, role), group }];
	});
}

/** Returns a user's roles, sorted, each as `<source> <instance or tenant>#<role> <steps>`. */
export function effectiveRoleTexts(world: GraphWorld, user: string): readonly string[] {
	const fewest = new Map<string, number>();
	for (const { state, group } of starts(world, user)) {
		fewest.set(`direct ${state}`, 0);
		for (const [reached, steps] of reach(world, state, user)) {
			const name = `${group ? 'group' : 'derived'} ${reached}`;
			if (reached !== state) fewest.set(name, Math.min(steps, fewest.get(name) ?? steps));
		}
	}
	const inTenants = world.assignments.flatMap(({ user: holder, role, tenant }) =>
		holder === user && tenant !== undefined ? [`direct ${tenant}#${role} 0`] : [],
	);
	return [...inTenants, ...[...fewest].map(([name, steps]) => `${name} ${steps}`)].sort();
}

/** Returns the number of edges in the shortest path from a user to any of the goals; `null` if there is no path. */
export function fewestFromUser(world: GraphWorld, user: string, goals: readonly State[]): number | null {
	const lengths = starts(world, user).flatMap(({ state }) => {
		const reached = reach(world, state, user);
		return goals.flatMap((goal) => reached.get(goal) ?? []);
	});
	return lengths.length === 0 ? null : Math.min(...lengths) + 1;
}

/** Returns the number of edges in the shortest path from any role on `from` to `goal`; `null` if there is no path. */
export function fewestToRole(world: GraphWorld, from: string, goal: State): number | null {
	const lengths = (roles[typePart(from)] ?? []).flatMap(
		(role) => reach(world, stateText(from, role), null).get(goal) ?? [],
	);
	return lengths.length === 0 ? null : Math.min(...lengths);
}

/** Returns the number of relationships in the shortest path between two instances; `null` if there is no path. */
export function fewestRelationships(world: GraphWorld, from: string, to: string): number | null {
	const found = new Map([[from, 0]]);
	for (const [name, steps] of found) {
		for (const { subject, object } of world.tuples) {
			if (subject === name && !found.has(object)) found.set(object, steps + 1);
		}
	}
	return found.get(to) ?? null;
}
