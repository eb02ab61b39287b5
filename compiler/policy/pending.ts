/**
 * The table at `regolith.pending`. The data document contains it while the active policy was compiled from an older
 * schema than the data:
 *
 * - `computed[type][role]` suspended computed roles in the active policy; absent if there are none
 * - `derivations[type][role][edge]` suspended derivations in the active policy
 * - `set_rules[type][action]` the rules in effect, as a table of user sets and resource sets, for each action with
 *   suspended rules, or with rules that the active policy lacks
 * - `grants[condition]` suspended grant conditions; absent if there are none
 * - `actions[type][action]` actions with a pending grant, either suspended or new. A denial of such an action has the
 *   code `policy_pending`
 *
 * Only removed or narrowed grants are suspended. Additions are not in the Rego yet. If an excluded role may have gained
 * holders, the computed roles that exclude it, and the rules of user sets that exclude it, may have lost users. They
 * are suspended too (`standing.ts`).
 */
import {
	computedRoles,
	derivationEdges,
	publicRoles,
	type RoleName,
	roleLinks,
	roleName,
	withDerivedRoles,
} from '../cycle.js';
import { addTo, type Tree, treeValue } from '../data/tree.js';
import { groupBy } from '../group-by.js';
import type { Json, Schema, SetRule } from '../model.js';
import { resourceRoleGrants } from './grant.js';
import { declarationTexts, rolesDeclaring, suspendedConditions } from './grant-conditions.js';
import { userSetsNaming } from './named-roles.js';
import { edgeName, ruleText, standingRules, suspendedComputedRoles, suspendedEdges } from './standing.js';

/**
 * Returns the table at `regolith.pending` for a policy compiled from `inForce` over data for `schema`, or `null` if
 * nothing is pending. A pure function of the two schemas.
 */
export function pendingTable(inForce: Schema, schema: Schema): Json {
	if (inForce === schema) {
		return null;
	}
	const derivations: Tree = new Map();
	for (const edge of suspendedEdges(inForce, schema)) {
		addTo(derivations, [edge.target.type, edge.target.role, edgeName(edge)]);
	}
	const computed: Tree = new Map();
	for (const { type, role } of suspendedComputedRoles(inForce, schema)) addTo(computed, [type, role]);
	const stands = standingRules(inForce, schema);
	const actions = pendingActions(inForce, schema, stands);
	const setRules = suspendedRules(inForce, schema, stands);
	const grants = suspendedConditions(inForce, schema);
	const found = derivations.size + computed.size + actions.size + grants.length;
	if (found === 0 && Object.keys(setRules).length === 0) {
		return null;
	}
	return {
		actions: treeValue(actions),
		...(computed.size > 0 && { computed: treeValue(computed) }),
		derivations: treeValue(derivations),
		...(grants.length > 0 && { grants: Object.fromEntries(grants.map((set) => [set, null])) }),
		set_rules: setRules,
	};
}

/** Returns true if a set rule in the active policy is still in effect. */
type Stands = ReturnType<typeof standingRules>;

type ActionName = Pick<SetRule, 'resource' | 'action'>;

function actionText({ resource, action }: ActionName): string {
	return JSON.stringify([resource, action]);
}

/**
 * Returns the actions with a suspended rule, or with a rule that the active policy lacks, each with the rules in
 * effect.
 */
function suspendedRules(inForce: Schema, schema: Schema, stands: Stands): { readonly [type: string]: Json } {
	const tables = new Map<string, [string, Json][]>();
	const before = new Set(inForce.set_rules.map(ruleText));
	const added = new Set(schema.set_rules.filter((rule) => !before.has(ruleText(rule))).map(actionText));
	const all = groupBy([...inForce.set_rules, ...schema.set_rules], actionText);
	for (const [name, rules] of all) {
		const [first] = rules;
		const known = rules.filter((rule) => before.has(ruleText(rule)));
		const standing = known.filter(stands);
		if (first !== undefined && (standing.length < known.length || added.has(name))) {
			const table: Tree = new Map();
			for (const { user_set, resource_set } of standing) {
				addTo(table, [user_set, resource_set]);
			}
			const actions = tables.get(first.resource) ?? [];
			tables.set(first.resource, actions);
			actions.push([first.action, treeValue(table)]);
		}
	}
	return Object.fromEntries([...tables].map(([type, actions]) => [type, Object.fromEntries(actions)]));
}

/** Returns actions in the newer schema for which the active policy may grant less than the next policy. */
function pendingActions(inForce: Schema, schema: Schema, stands: Stands): Tree {
	const found: Tree = new Map();
	const known = new Set(
		inForce.resources.flatMap(({ key, actions }) => actions.map((action) => `${key}:${action.key}`)),
	);
	const byRules = changedRuleActions(inForce, schema, stands);
	const byRoles = changedRoleActions(inForce, schema);
	for (const { key, actions } of schema.resources) {
		for (const action of actions) {
			const text = actionText({ resource: key, action: action.key });
			if (!known.has(`${key}:${action.key}`) || byRules.has(text) || byRoles.has(text)) {
				addTo(found, [key, action.key]);
			}
		}
	}
	return found;
}

/** Returns the actions for which a rule is in only one of the schemas, or uses an edited set. */
function changedRuleActions(inForce: Schema, schema: Schema, stands: Stands): ReadonlySet<string> {
	const before = new Set(inForce.set_rules.map(ruleText));
	const changed = [
		...inForce.set_rules.filter((rule) => !stands(rule)),
		...schema.set_rules.filter((rule) => !before.has(ruleText(rule))),
	];
	return new Set(changed.map(actionText));
}

/**
 * Returns the actions granted by affected roles, or by rules whose user sets name an affected role. A role is affected
 * if it is new or now public, if its derivations, its expression or its grant conditions have changed, if a grant
 * condition is suspended, or if the role is derived or computed from an affected role.
 */
function changedRoleActions(inForce: Schema, schema: Schema): ReadonlySet<string> {
	const roles = affectedRoles(inForce, schema);
	const actions = new Set<string>();
	for (const [resource, granted] of resourceRoleGrants(schema)) {
		for (const [action, holders] of granted) {
			if ([...holders].some((role) => roles.has(roleName({ type: resource, role })))) {
				actions.add(actionText({ resource, action }));
			}
		}
	}
	for (const one of [inForce, schema]) {
		const naming = userSetsNaming(one, roles);
		for (const rule of one.set_rules) if (naming.has(rule.user_set)) actions.add(actionText(rule));
	}
	return actions;
}

function affectedRoles(inForce: Schema, schema: Schema): ReadonlySet<string> {
	const [before, after] = [waysToHold(inForce), waysToHold(schema)];
	const known = new Set(roleNames(inForce).map(roleName));
	const open = new Set(publicRoles(inForce).map(roleName));
	const [declared, declares] = [declarationTexts(inForce), declarationTexts(schema)];
	const affected = [
		...roleNames(schema)
			.map(roleName)
			.filter((name) => !known.has(name)),
		...difference(before, after),
		...difference(after, before),
		...publicRoles(schema)
			.map(roleName)
			.filter((name) => !open.has(name)),
		...[...declared.keys(), ...declares.keys()].filter((name) => declared.get(name) !== declares.get(name)),
		// A condition that one role or relation no longer declares is suspended for all other roles and relations too.
		...rolesDeclaring(schema, new Set(suspendedConditions(inForce, schema))),
	];
	return withDerivedRoles(affected, [...roleLinks(inForce), ...roleLinks(schema)]);
}

function roleNames({ resources }: Schema): readonly RoleName[] {
	return resources.flatMap(({ key, roles }) => roles.map((role) => ({ type: key, role: role.key })));
}

/** A way to hold a role without an assignment: a derivation, or an expression. */
interface Way {
	readonly target: RoleName;
}

function waysToHold(schema: Schema): readonly Way[] {
	return [...derivationEdges(schema), ...computedRoles(schema)];
}

/** Returns the targets of the ways in `ways` but not in `others`. */
function difference(ways: readonly Way[], others: readonly Way[]): readonly string[] {
	const texts = new Set(others.map((way) => JSON.stringify(way)));
	return ways.filter((way) => !texts.has(JSON.stringify(way))).map(({ target }) => roleName(target));
}
