/**
 * Finds paths by which roles grant or could grant a check, through stored relationships and at most one added
 * relationship.
 */

import { everyone } from '../../../compiler/everyone.js';
import { actionPlace, roleFile, rolePlace } from '../../../compiler/policy/rule-place.js';
import { type RoleAlternative, roleAlternatives } from '../../../compiler/role-alternatives.js';
import type { Steps } from '../../../compiler/steps.js';
import type { Attempt, AttemptFact, AttemptStep } from '../../wire/decision/attempt.js';
import { instanceType } from '../facts/instance-name.js';
import { type RoleOnInstance, RolesOnInstances, RoleWalk } from '../facts/role-walk.js';
import type { Derivation } from '../facts/schema-tables.js';
import { type FactChanges, noFactChanges, type RoleFacts } from './role-facts.js';
import type { WorkLimit } from './work-limit.js';

/** Maximum number of attempts by roles to consider. */
const maxFound = 400;

/** A role on an instance, and the step by which the walk reached this role. */
interface Node extends RoleOnInstance {
	/** Previous node; absent at the start. */
	readonly before?: Node;
	/** Relation followed by the step. */
	readonly relation?: string;
	/** Object on which any assigned role blocks the step; absent if the derivation has no such rule. */
	readonly stopsAt?: string;
}

/** Attempts found within the limits. */
export interface FoundAttempts {
	readonly attempts: readonly Attempt[];
	/** True if there are more attempts. */
	readonly more: boolean;
	/** Keys of the user's roles on the instance that the action's user sets or computed roles exclude. */
	readonly blocking?: readonly string[];
}

/**
 * Finds attempts by roles, either passing or failing. Failing attempts are proposals: the caller must check that they
 * suffice and are minimal. Throws `WorkSpent`.
 */
export function* roleAttempts(roles: RoleFacts, passed: boolean, work: WorkLimit): Steps<FoundAttempts> {
	const attempts = attemptsInTenant(roles, passed);
	const { facts, check } = roles;
	const home = check.instance === undefined ? undefined : facts.tenantKey(check.instance);
	const wanted = facts.schema.instanceRolesThatGrant(check.type, check.action);
	const blocking = new Set<string>();
	// If the check specifies a tenant other than the instance's, no role on the instance can grant the check, even with
	// added facts.
	if (check.instance !== undefined && (home === undefined || home === check.tenant)) {
		const goal = { wanted, instance: check.instance };
		if (passed) yield* passedOnInstance(roles, goal, attempts, work);
		else yield* failedOnInstance(roles, { ...goal, held: yield* heldRoles(roles, work), blocking }, attempts, work);
	}
	return { attempts: attempts.slice(0, maxFound), more: attempts.length > maxFound, blocking: [...blocking].sort() };
}

function attemptsInTenant(roles: RoleFacts, passed: boolean): Attempt[] {
	const { facts, check, inTenant } = roles;
	const { user, type, action, tenant } = check;
	return facts.schema
		.tenantRolesThatGrant(type, action)
		.filter((role) => inTenant.has(role) === passed)
		.map((role) => ({
			passed,
			by: 'role_in_tenant',
			chain: [{ type: 'role_assignment', role, resource: `__tenant:${tenant}` }],
			policy: actionPlace(type, action),
			add: passed ? [] : [...missingTenantAndUser(roles), { fact: 'role_assignment', user, role, tenant }],
			remove: [],
			compare: [],
		}));
}

type FactsAndCheck = Pick<RoleFacts, 'facts' | 'check' | 'userExists'>;

/** Returns the check's tenant and user as facts to add, each only if it does not exist. */
export function missingTenantAndUser({ facts, check: { tenant, user }, userExists }: FactsAndCheck): AttemptFact[] {
	const missing: AttemptFact[] = [];
	if (!facts.tenants.has(tenant)) missing.push({ fact: 'tenant', tenant });
	if (!userExists) missing.push({ fact: 'user', user });
	return missing;
}

/** Returns the check's tenant, user and instance as facts to add, each only if it does not exist. */
export function missingObjects(roles: FactsAndCheck): AttemptFact[] {
	const { instance, tenant } = roles.check;
	if (instance === undefined || roles.facts.tenantKey(instance) !== undefined) return missingTenantAndUser(roles);
	return [...missingTenantAndUser(roles), { fact: 'resource_instance', resource_instance: instance, tenant }];
}

/** Roles on an instance. Any single role suffices. */
interface RoleGoal {
	readonly wanted: readonly string[];
	readonly instance: string;
}

/**
 * Finds each assigned or computed role of the user from which a wanted role is derived, and its shortest unblocked
 * path. For a computed role, uses the first alternative by which the user holds the role.
 */
function* passedOnInstance(roles: RoleFacts, goal: RoleGoal, found: Attempt[], work: WorkLimit): Steps<void> {
	for (const node of yield* leadingRoles(roles, { ...goal, pastStops: false }, work)) {
		if (work.step()) yield;
		const computed = yield* computedSteps(roles, node, work);
		if (computed.length > 0 || roles.isAssigned(node)) found.push(onInstance(roles, node, computed, noFactChanges));
	}
}

/**
 * Returns the steps by which the user holds a computed role; empty for other roles, and if the user does not hold the
 * role.
 */
function* computedSteps(roles: RoleFacts, node: RoleOnInstance, work: WorkLimit): Steps<readonly AttemptStep[]> {
	const { instance } = node;
	for (const alternative of alternativesOf(roles, node)) {
		const steps: AttemptStep[] = [computedStep(node, alternative)];
		let holds = true;
		for (const required of alternative.required) {
			if (!holds) break;
			const chain = yield* chainTo(roles, { role: required, instance }, work);
			holds = chain.length > 0;
			steps.push(...chain);
		}
		for (const role of alternative.excluded) {
			if (holds) holds = !(yield* roles.holds({ role, instance }, noFactChanges, work));
		}
		if (holds) return steps;
	}
	return [];
}

function alternativesOf({ facts: { schema } }: RoleFacts, { role, instance }: RoleOnInstance) {
	const type = instanceType(instance);
	const computed = schema.computed(type, role);
	if (computed === undefined) return [];
	return roleAlternatives(computed.formula, (operand) => schema.computed(type, operand)?.expression);
}

/** Returns the steps by which the user holds a role on an instance; empty if the user does not hold the role. */
function* chainTo(
	roles: RoleFacts,
	{ role, instance }: RoleOnInstance,
	work: WorkLimit,
): Steps<readonly AttemptStep[]> {
	const found: Attempt[] = [];
	yield* passedOnInstance(roles, { wanted: [role], instance }, found, work);
	return found[0]?.chain ?? [];
}

/** Maximum number of proposals to combine per required role, and of combinations to keep. */
const maxOptions = 3;
const maxCombined = 12;

/**
 * Finds proposals for a computed role. A proposal joins a proposal for each missing role of an alternative, and removes
 * assignments of excluded roles. Removing a derived role requires changes to other objects, so nothing is proposed for
 * it.
 */
function* failedComputed(
	roles: RoleFacts,
	node: Node,
	goal: FailedGoal,
	found: Attempt[],
	work: WorkLimit,
): Steps<void> {
	const { user, tenant } = roles.check;
	const { instance } = node;
	for (const alternative of alternativesOf(roles, node)) {
		const first = { ...noFactChanges, chain: [computedStep(node, alternative)] };
		let ways: readonly (FactChanges & { readonly chain: readonly AttemptStep[] })[] = [first];
		for (const required of alternative.required) {
			const chain = yield* chainTo(roles, { role: required, instance }, work);
			const options: Attempt[] = [];
			if (chain.length === 0) {
				yield* failedOnInstance(roles, { ...goal, wanted: [required], instance }, options, work);
			}
			const steps = chain.length > 0 ? [{ ...noFactChanges, chain }] : fewestChanges(options);
			ways = ways
				.flatMap((way) =>
					steps.map((step) => ({
						add: [...way.add, ...step.add],
						remove: [...way.remove, ...step.remove],
						chain: [...way.chain, ...step.chain],
					})),
				)
				.slice(0, maxCombined);
		}
		const remove: AttemptFact[] = rolesThatStop(roles, node);
		for (const role of alternative.excluded) {
			if (!(yield* roles.holds({ role, instance }, noFactChanges, work))) continue;
			if (instance === roles.check.instance) goal.blocking.add(role);
			if (roles.assignedOn(instance).has(role)) {
				remove.push({ fact: 'role_assignment', user, role, tenant, resource_instance: instance });
			}
		}
		for (const way of ways) {
			const changes = { add: distinctFacts(way.add), remove: distinctFacts([...way.remove, ...remove]) };
			if (changes.add.length + changes.remove.length > 0) found.push(onInstance(roles, node, way.chain, changes));
		}
	}
}

function fewestChanges(options: readonly Attempt[]): readonly Attempt[] {
	const changes = ({ add, remove }: Attempt) => add.length + remove.length;
	return options.toSorted((left, right) => changes(left) - changes(right)).slice(0, maxOptions);
}

function distinctFacts(facts: readonly AttemptFact[]): readonly AttemptFact[] {
	return [...new Map(facts.map((fact) => [JSON.stringify(fact), fact])).values()];
}

function computedStep({ role, instance }: RoleOnInstance, { excluded }: RoleAlternative): AttemptStep {
	return {
		type: 'computed_role',
		role: `${instance}#${role}`,
		resource: instance,
		excludes: [...excluded],
		file: fileFor(role, instance),
	};
}

interface FailedGoal extends RoleGoal {
	readonly held: HeldRoles;
	/** Receives the user's roles on the check's instance that a computed role excludes. */
	readonly blocking: Set<string>;
}

/**
 * Finds proposals. A proposal assigns a role from which a wanted role is derived, or adds a relationship from an
 * instance on which the user holds a role. It also removes blocking roles on the path.
 */
function* failedOnInstance(roles: RoleFacts, goal: FailedGoal, found: Attempt[], work: WorkLimit): Steps<void> {
	const { facts, check } = roles;
	const { user, tenant } = check;
	const missing = missingObjects(roles);
	for (const node of yield* leadingRoles(roles, { ...goal, pastStops: true }, work)) {
		if (work.step()) yield;
		if (found.length > maxFound) return;
		const { role, instance } = node;
		if (facts.schema.computed(instanceType(instance), role) !== undefined) {
			yield* failedComputed(roles, node, goal, found, work);
			continue;
		}
		const remove = rolesThatStop(roles, node);
		if (roles.isAssigned(node)) {
			if (remove.length > 0) found.push(onInstance(roles, node, [], { add: [], remove }));
			continue;
		}
		const assigned: AttemptFact = { fact: 'role_assignment', user, role, tenant, resource_instance: instance };
		found.push(onInstance(roles, node, [], { add: [...missing, assigned], remove }));
		for (const derivation of facts.schema.derivations(instanceType(instance), role)) {
			const { relation, no_direct_roles_on_object: stops } = derivation;
			for (const source of goal.held.get(roleText(derivation.resource, derivation.role)) ?? []) {
				if (work.step()) yield;
				if (found.length > maxFound) return;
				const subject = source.instance;
				if (subject === instance || (yield* isRelated(roles, { subject, relation, object: instance }, work))) continue;
				const last = { ...source, before: node, relation, ...(stops ? { stopsAt: instance } : {}) };
				const steps = yield* stepsToSource(roles, source, work);
				const isPublic = steps.some((step) => step.type === 'role_assignment' && step.user === everyone);
				// A role assigned to everyone needs no stored user.
				const needed = isPublic ? missing.filter(({ fact }) => fact !== 'user') : missing;
				const tuple: AttemptFact = { fact: 'relationship_tuple', subject, relation, object: instance, tenant };
				found.push(
					onInstance(roles, last, steps, {
						add: [...needed, tuple],
						remove: rolesThatStop(roles, last),
					}),
				);
			}
		}
	}
}

interface Relationship {
	readonly subject: string;
	readonly relation: string;
	readonly object: string;
}

function* isRelated(
	{ facts, time, counts }: RoleFacts,
	{ subject, relation, object }: Relationship,
	work: WorkLimit,
): Steps<boolean> {
	for (const [other, by] of facts.relations.from(object, time)) {
		if (work.step()) yield;
		if (other === subject && by === relation) return true;
	}
	for (const row of facts.conditionalRelations.from(object, time)) {
		work.step();
		yield;
		if (row.subject === subject && row.relation === relation && counts(row)) return true;
	}
	return false;
}

/**
 * Returns the roles on instances from which a wanted role is derived, including the wanted roles themselves. Each role
 * has the path with the fewest blocks, and among equal paths, the shortest. With `pastStops`, the walk also continues
 * past assigned roles that block a derivation.
 */
function* leadingRoles(
	roles: RoleFacts,
	{ wanted, instance, pastStops }: RoleGoal & { readonly pastStops: boolean },
	work: WorkLimit,
): Steps<readonly Node[]> {
	const { facts, time } = roles;
	const walk = new RoleWalk<Node>(facts, time, work, roles.counts);
	let stopped: Node[] = [];
	for (const role of wanted) walk.visit({ role, instance });
	for (let next = 0; next < walk.nodes.length; ) {
		for (let node = walk.nodes[next]; node !== undefined; node = walk.nodes[next]) {
			next += 1;
			if (work.step()) yield;
			const before = node;
			const object = node.instance;
			const held = roles.assignedOn(object).size > 0;
			const derivations = facts.schema.derivations(instanceType(object), node.role);
			const steps: WalkStep[] = [];
			yield* walk.followUpstream(object, derivations, (derivation, subject) => steps.push([derivation, subject]));
			for (const [{ role, relation, no_direct_roles_on_object: stops }, subject] of steps.sort(byName)) {
				const reached = { role, instance: subject, before, relation };
				if (!stops) walk.visit(reached);
				else if (roles.isBlocked(object)) continue;
				else if (!held) walk.visit({ ...reached, stopsAt: object });
				else if (pastStops) stopped.push({ ...reached, stopsAt: object });
			}
		}
		for (const node of stopped) walk.visit(node);
		stopped = [];
	}
	return walk.nodes;
}

/** Roles on instances, keyed by type and role. */
type HeldRoles = ReadonlyMap<string, readonly Node[]>;

/**
 * Returns the user's roles and public roles on instances in the tenant, keyed by type and role. Omits computed roles
 * from which no role is derived. Each role has the shortest path to its source.
 */
function* heldRoles(roles: RoleFacts, work: WorkLimit): Steps<HeldRoles> {
	const { facts, check, time } = roles;
	const walk = new RoleWalk<Node>(facts, time, work, roles.counts);
	const asked = new RolesOnInstances();
	const all = [...roles.assigned, ...roles.public];
	for (const [instance, assigned] of all.sort(([left], [right]) => compareTexts(left, right))) {
		if (work.step()) yield;
		if (facts.tenantKey(instance) === check.tenant)
			for (const role of [...assigned].sort()) walk.visit({ role, instance });
	}
	for (const node of walk.nodes) {
		if (work.step()) yield;
		const { instance } = node;
		for (const { role, required } of facts.schema.computedSources(instanceType(instance))) {
			if (!required.includes(node.role) || asked.has(role, instance)) continue;
			asked.add(role, instance);
			if (yield* roles.holds({ role, instance }, noFactChanges, work)) walk.visit({ role, instance });
		}
		const steps: WalkStep[] = [];
		yield* walk.followDownstream(node, (...step) => steps.push(step));
		for (const [{ role, relation, no_direct_roles_on_object: stops }, object] of steps.sort(byName)) {
			if (stops && (roles.assignedOn(object).size > 0 || roles.isBlocked(object))) continue;
			walk.visit({ role, instance: object, before: node, relation });
		}
	}
	const byRole = new Map<string, Node[]>();
	for (const node of walk.nodes) {
		const name = roleText(instanceType(node.instance), node.role);
		const same = byRole.get(name) ?? [];
		byRole.set(name, same);
		same.push(node);
	}
	return byRole;
}

type WalkStep = readonly [derivation: Derivation, instance: string];

/**
 * Orders steps by instance, relation and role. The facts index stores relationships in order of arrival, which differs
 * between a decision point and a state restored from the history.
 */
function byName(left: WalkStep, right: WalkStep): number {
	return compareTexts(stepName(left), stepName(right));
}

function stepName([{ relation, role }, instance]: WalkStep): string {
	return `${instance} ${relation} ${role}`;
}

function compareTexts(left: string, right: string): number {
	return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns the user's roles that block a step on the path to a node. */
function rolesThatStop(roles: RoleFacts, node: Node): AttemptFact[] {
	const { user, tenant } = roles.check;
	const instances = new Set<string>();
	for (let at: Node | undefined = node; at !== undefined; at = at.before) {
		if (at.stopsAt !== undefined) instances.add(at.stopsAt);
	}
	return [...instances].flatMap((instance) =>
		[...roles.assignedOn(instance)].sort().map((role) => ({
			fact: 'role_assignment' as const,
			user,
			role,
			tenant,
			resource_instance: instance,
		})),
	);
}

/**
 * Builds the attempt for a `leadingRoles` node. Its chain begins at the wanted role and ends with `steps`, or without
 * `steps`, with the assignment of the node's role.
 */
function onInstance(
	roles: RoleFacts,
	node: Node,
	steps: readonly AttemptStep[],
	{ add, remove }: FactChanges,
): Attempt {
	const { check } = roles;
	const chain = steps.length > 0 ? [...steps] : [assignedStep(roles, node)];
	let granting = node;
	for (let at = node; at.before !== undefined; at = at.before) {
		chain.unshift(derivedStep(at.before, at.relation, at.instance));
		granting = at.before;
	}
	return {
		passed: add.length === 0 && remove.length === 0,
		by: 'role_on_instance',
		chain,
		policy: rolePlace({ type: check.type, role: granting.role }),
		add: [...add],
		remove: [...remove],
		compare: [],
	};
}

/** Returns the steps from a `heldRoles` node to the assigned or computed role from which the node's role is derived. */
function* stepsToSource(roles: RoleFacts, node: Node, work: WorkLimit): Steps<readonly AttemptStep[]> {
	const steps: AttemptStep[] = [];
	let at = node;
	for (; at.before !== undefined; at = at.before) steps.push(derivedStep(at, at.relation, at.before.instance));
	const computed = yield* computedSteps(roles, at, work);
	return [...steps, ...(computed.length > 0 ? computed : [assignedStep(roles, at)])];
}

function assignedStep(roles: RoleFacts, { role, instance }: Node): AttemptStep {
	return {
		type: 'role_assignment',
		...(roles.isOnlyPublic({ role, instance }) ? { user: everyone } : {}),
		role: `${instance}#${role}`,
		resource: instance,
		file: fileFor(role, instance),
	};
}

function derivedStep({ role, instance }: Node, relation = '', subject: string): AttemptStep {
	return {
		type: 'role_derivation',
		role: `${instance}#${role}`,
		resource: instance,
		relation,
		subject,
		file: fileFor(role, instance),
	};
}

function fileFor(role: string, instance: string): string {
	return roleFile({ type: instanceType(instance), role });
}

function roleText(type: string, role: string): string {
	return JSON.stringify([type, role]);
}
