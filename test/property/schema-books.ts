import {
	changeRole,
	demand,
	drop,
	instanceType,
	known,
	type RoleBook,
	roleIn,
	type State,
} from './relationship-state.js';
import type { RoleBlock, Rule, SchemaWrite, Source } from './relationship-writes.js';

/** Applies schema writes to the books. All functions throw `Refused` if a write must be refused. */

const bare: RoleBook = {
	permissions: new Set(),
	parents: new Set(),
	rules: [],
	granted: false,
	blocked: false,
	made: false,
};

/** Enters a schema write. */
export function enterSchema(state: State, entry: SchemaWrite): void {
	switch (entry.kind) {
		case 'create-resource':
			createResource(state, entry);
			break;
		case 'set-actions':
			setActions(state, entry.type, entry.actions);
			break;
		case 'delete-resource':
			known(state.resources, entry.type);
			removeResource(state, entry.type);
			break;
		case 'create-role':
			createRole(state, entry.type, entry.role, { ...entry, rules: null });
			break;
		case 'delete-role':
			roleIn(state, entry.type, entry.role);
			removeRole(state, entry.type, entry.role);
			break;
		case 'create-relation':
			createRelation(state, entry.type, entry.relation, entry.subject);
			break;
		case 'delete-relation':
			known(known(state.resources, entry.type).relations, entry.relation);
			removeRelation(state, entry.type, entry.relation);
			break;
		default:
			enterRole(state, entry);
			break;
	}
}

function enterRole(
	state: State,
	entry: Exclude<Extract<SchemaWrite, { readonly role: string }>, { readonly kind: 'create-role' | 'delete-role' }>,
): void {
	const { type, role: key } = entry;
	const role = roleIn(state, type, key);
	switch (entry.kind) {
		case 'grant':
		case 'revoke': {
			demand(known(state.resources, type).actions.has(entry.action), 'no such action');
			changeRole(state, type, key, {
				permissions: edited(role.permissions, entry.action, entry.kind === 'grant'),
			});
			break;
		}
		case 'extend':
		case 'unextend': {
			roleIn(state, type, entry.parent);
			demand(entry.kind === 'extend' || role.parents.has(entry.parent), 'the role does not extend this role');
			changeRole(state, type, key, { parents: edited(role.parents, entry.parent, entry.kind === 'extend') });
			refuseCycle(state, type, key);
			break;
		}
		case 'derive':
		case 'underive':
			rederive(state, type, key, entry.kind, entry.rule);
			break;
		case 'derive-only': {
			for (const rule of entry.rules) requireRule(state, type, rule);
			changeRole(state, type, key, { rules: once(entry.rules), granted: true, blocked: entry.blocked });
			break;
		}
		case 'block':
			// Repeating the same value changes nothing. In this case, derivations without rules remain unset.
			if (role.blocked !== entry.blocked) changeRole(state, type, key, { blocked: entry.blocked, granted: true });
	}
}

function rederive(state: State, type: string, key: string, kind: 'derive' | 'underive', rule: Rule): void {
	requireRule(state, type, rule);
	const { rules } = roleIn(state, type, key);
	if (kind === 'derive') {
		changeRole(state, type, key, { rules: once([...rules, rule]), granted: true });
		return;
	}
	const others = rules.filter((other) => !sameSource(other, rule));
	demand(others.length < rules.length, 'the role has no such derivation');
	changeRole(state, type, key, { rules: others });
}

/** Adds a rule to a role. */
export function derive(state: State, type: string, role: string, rule: Rule): void {
	rederive(state, type, role, 'derive', rule);
}

function edited(keys: ReadonlySet<string>, key: string, add: boolean): ReadonlySet<string> {
	return add ? new Set([...keys, key]) : new Set([...keys].filter((other) => other !== key));
}

function createResource(state: State, entry: SchemaWrite & { readonly kind: 'create-resource' }): void {
	const { type, actions, roles, relations } = entry;
	demand(!state.resources.has(type), 'the resource exists');
	addResource(state, type, actions, false);
	for (const [relation, subject] of Object.entries(relations)) createRelation(state, type, relation, subject);
	for (const role of Object.keys(roles)) addRole(state, type, role, false);
	for (const [role, block] of Object.entries(roles)) link(state, type, role, block);
}

/** Adds an empty resource. */
export function addResource(state: State, type: string, actions: readonly string[], made: boolean): void {
	state.resources.set(type, { actions: new Set(actions), roles: new Map(), relations: new Map(), made });
}

/** Adds an empty role. */
export function addRole(state: State, type: string, role: string, made: boolean): void {
	known(state.resources, type).roles.set(role, { ...bare, made });
}

function createRole(state: State, type: string, role: string, block: RoleBlock): void {
	demand(!known(state.resources, type).roles.has(role), 'the role exists');
	addRole(state, type, role, false);
	link(state, type, role, block);
}

function link(state: State, type: string, role: string, { permissions, parents, rules }: RoleBlock): void {
	for (const action of permissions) demand(known(state.resources, type).actions.has(action), 'no such action');
	for (const parent of parents) roleIn(state, type, parent);
	for (const rule of rules ?? []) requireRule(state, type, rule);
	changeRole(state, type, role, {
		permissions: new Set(permissions),
		parents: new Set(parents),
		rules: once(rules ?? []),
		granted: rules !== null,
	});
	refuseCycle(state, type, role);
}

function refuseCycle(state: State, type: string, role: string): void {
	const above = new Set(roleIn(state, type, role).parents);
	for (const key of above) for (const parent of roleIn(state, type, key).parents) above.add(parent);
	demand(!above.has(role), 'the role would extend itself');
}

function requireRule(state: State, type: string, { relation, type: from, role }: Rule): void {
	const { subject } = known(known(state.resources, type).relations, relation);
	roleIn(state, from, role);
	demand(subject === from, 'the relation has a different subject resource');
}

/** For each source, keeps the last rule, at the position of the first rule. */
function once(rules: readonly Rule[]): readonly Rule[] {
	const sources = rules.filter((rule, index) => rules.findIndex((other) => sameSource(other, rule)) === index);
	return sources.map((source) => rules.findLast((rule) => sameSource(rule, source)) ?? source);
}

function sameSource(left: Source, right: Source): boolean {
	return left.relation === right.relation && left.type === right.type && left.role === right.role;
}

function setActions(state: State, type: string, actions: readonly string[]): void {
	const resource = known(state.resources, type);
	for (const [role, { permissions }] of resource.roles) {
		changeRole(state, type, role, { permissions: new Set([...permissions].filter((key) => actions.includes(key))) });
	}
	state.resources.set(type, { ...resource, actions: new Set(actions) });
}

function createRelation(state: State, type: string, relation: string, subject: string): void {
	const { relations } = known(state.resources, type);
	known(state.resources, subject);
	demand(!relations.has(relation), 'the relation exists');
	relations.set(relation, { subject, made: false });
}

/** Deletes a relation with its tuples and derivations. */
export function removeRelation(state: State, type: string, relation: string): void {
	const { roles, relations } = known(state.resources, type);
	drop(state.tuples, (tuple) => instanceType(tuple.object) === type && tuple.relation === relation);
	for (const [role, { rules }] of roles) {
		changeRole(state, type, role, { rules: rules.filter((rule) => rule.relation !== relation) });
	}
	relations.delete(relation);
}

/** Deletes a role with its assignments, extensions and derivations. */
export function removeRole(state: State, type: string, gone: string): void {
	drop(state.assignments, ({ instance, role }) => instanceType(instance) === type && role === gone);
	for (const [other, { roles }] of state.resources) {
		for (const [role, { rules, parents }] of roles) {
			changeRole(state, other, role, {
				rules: rules.filter((rule) => rule.type !== type || rule.role !== gone),
				parents: other === type ? edited(parents, gone, false) : parents,
			});
		}
	}
	known(state.resources, type).roles.delete(gone);
}

/** Deletes a resource with its contents and all references to it. */
export function removeResource(state: State, type: string): void {
	removeInstances(state, (name) => instanceType(name) === type);
	for (const role of [...known(state.resources, type).roles.keys()]) removeRole(state, type, role);
	for (const [object, { relations }] of state.resources) {
		for (const [relation, { subject }] of [...relations]) {
			if (object === type || subject === type) removeRelation(state, object, relation);
		}
	}
	state.resources.delete(type);
}

/** Deletes instances with their role assignments and relationships. */
export function removeInstances(state: State, gone: (name: string, tenant: string) => boolean): void {
	const names = [...state.instances].filter(([name, { tenant }]) => gone(name, tenant)).map(([name]) => name);
	drop(state.instances, (_, name) => names.includes(name));
	drop(state.assignments, ({ instance }) => names.includes(instance));
	drop(state.tuples, ({ subject, object }) => names.includes(subject) || names.includes(object));
}
