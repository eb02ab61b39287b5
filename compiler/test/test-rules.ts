/** Rules for the generated tests: a small rule per resource type, and the rules' helpers. */
import { packagePart } from '../rego/path.js';
import { type Fragment, rego } from '../rego/rego.js';

/** Tests for a kind of object: schema tables, and rules to check the policy against these tables. */
export interface TestSection extends TestRules {
	/** Schema tables. */
	readonly table: Fragment;
}

/** Test rules for a kind of object. */
export interface TestRules {
	/**
	 * One rule per resource type, because each rule has its own time limit. `opa test --verbose` lists the cases by name.
	 */
	readonly tests: readonly Fragment[];
	readonly helpers: readonly Fragment[];
}

/** Writes the tests for the actions on these types. Each type must have actions. */
export function actionTests(types: readonly string[]): TestRules {
	return {
		tests: [
			rego`# The data document has these resource types and actions, and no others.
test_resource_types if {
	{type: object.keys(keys) | some type, keys in data.regolith.schema.actions} == actions
}`,
			...types.map(
				(type) => rego`test_actions${packagePart(type)}[action] if {
	some action in actions${packagePart(type)}
	action_can_be_granted(${type}, action)
}`,
			),
		],
		helpers:
			types.length === 0
				? []
				: [
						rego`# A tenant role with a grant of the action allows it. The test adds the grant, so the schema needs none.
action_can_be_granted(type, action) if {
	facts := with_tenant_role("granting")
	grants := {type: {action: {"granting": null}}}
	allowed({"type": type, "tenant": "here"}, facts) == {action} with data.regolith.schema.grants as grants
}`,
					],
	};
}

/** Rules for querying the policy. They exist in schemas with resource types. */
export const checking: readonly Fragment[] = [
	rego`# Actions on the resource that the policy allows to the user in the facts. Evaluates only the rule that decides, because
# denial codes take longer. As in cloud mode, condition sets are skipped, even sets that only require roles.
allowed(resource, facts) := {action |
	some action in actions_of(resource.type)
	cloud := {"pdp_type": "cloud"}
	question := {"user": {"key": "someone"}, "action": action, "resource": resource, "context": cloud}
	check.permitted with input as question with data.regolith.facts as facts
}`,
	rego`actions_of(type) := object.get(actions, type, set())`,
	rego`# Two tenants, and a user without roles.
nothing_held := {
	"users": {"someone": {}},
	"tenants": {"here": {}, "elsewhere": {}},
	"tenant_roles": {"here": {}, "elsewhere": {}},
	"instances": {},
	"user_roles": {},
	"relations": {},
	"closures": {},
}`,
	rego`with_tenant_role(role) := object.union(nothing_held, {
	"users": {"someone": {"here": null}},
	"tenant_roles": {"here": {"someone": {role: null}}},
})`,
];

/** Writes the tests for tenant roles, on instances with these types. */
export function tenantRoleTests(types: readonly string[]): TestRules {
	return {
		tests: types.flatMap((type) => [
			rego`test_tenant_roles${packagePart(type)}[role] if {
	some role, _ in tenant_roles
	tenant_role_is_right(role, ${type})
}`,
		]),
		helpers: [
			rego`# A tenant role allows exactly its granted actions in its tenant, and no action in a different tenant.
tenant_role_is_right(role, type) if {
	facts := with_tenant_role(role)
	allowed({"type": type, "tenant": "here"}, facts) == granted_by_tenant_role(role, type)
	allowed({"type": type, "tenant": "elsewhere"}, facts) == set()
}`,
			rego`granted_by_tenant_role(role, type) := union({permitted |
	some key in graph.reachable(extended_tenant_roles, {role})
	permitted := object.get(tenant_roles[key].permissions, type, set())
})`,
			rego`extended_tenant_roles := {role: row.extends | some role, row in tenant_roles}`,
		],
	};
}

/**
 * Writes the tests for roles on instances with these types. `computes` is true if roles are computed: then users hold
 * additional roles, and computed roles are not assigned.
 */
export function resourceRoleTests(types: readonly string[], computes: boolean): TestRules {
	const expected = withComputed(computes);
	return {
		tests: types.flatMap((type) => [
			rego`test_resource_roles${packagePart(type)}[role] if {
	some role, _ in ${assignable(computes, type)}
	resource_role_is_right(${type}, role)
}`,
		]),
		helpers: [
			rego`# A role on an instance allows exactly its granted actions there, and no action on any other instance or in any other
# tenant. With grants of all actions, it allows all actions. Without grants, the denial code shows that a role is held,
# unless a rule for a set that only requires roles allows the action.
resource_role_is_right(type, role) if {
	facts := object.union(with_role_on(type, "object", role), {"instances": {instance(type, "other"): "here"}})
	held(object_in(type, "here"), facts) == ${expected(rego`{role}`)}
	allowed(object_in(type, "here"), facts) == granted_by_resource_roles(type, ${expected(rego`{role}`)})
	allowed(object_in(type, "elsewhere"), facts) == set()
	allowed({"type": type, "key": "other", "tenant": "here"}, facts) == set()
	grants := {type: {action: {role: null} | some action in actions_of(type)}}
	allowed(object_in(type, "here"), facts) == actions[type] with data.regolith.schema.resource_grants as grants
	denials(object_in(type, "here"), facts) - {"allow", "no_permission"} == set() with data.regolith.schema.resource_grants as {}
		with data.regolith.schema.other_roles as grants
	denials({"type": type, "key": "other", "tenant": "here"}, facts) - {"no_graph_roles"} == set()
}`,
			rego`# Codes of checks, which show whether the user holds any role.
denials(resource, facts) := {code |
	some action in actions_of(resource.type)
	question := {"user": {"key": "someone"}, "action": action, "resource": resource, "conditions": false}
	code := check.code with input as question with data.regolith.facts as facts
}`,
			rego`# Roles that the user holds on the instance according to the policy.
held(resource, facts) := roles if {
	roles := rebac.held_roles with input as {"user": {"key": "someone"}, "resource": resource}
		with data.regolith.facts as facts
}`,
			rego`granted_by_resource_roles(type, roles) := union({resource_roles[type][role].permissions |
	extended := {role: row.extends | some role, row in resource_roles[type]}
	some role in graph.reachable(extended, roles)
})`,
			rego`with_role_on(type, key, role) := object.union(nothing_held, {
	"instances": {instance(type, key): "here"},
	"user_roles": {"someone": {type: {role: {instance(type, key): null}}}},
})`,
			rego`object_in(type, tenant) := {"type": type, "key": "object", "tenant": tenant}`,
			rego`instance(type, key) := concat(":", [type, key])`,
		],
	};
}

/** Returns a function that writes a set of roles together with the roles computed from them. */
function withComputed(computes: boolean): (roles: Fragment) => Fragment {
	return (roles) => (computes ? rego`with_computed(type, ${roles})` : roles);
}

/** Writes the table of the roles that can be assigned on instances of a type. */
function assignable(computes: boolean, type: string): Fragment {
	return computes ? rego`assignable_roles(${type})` : rego`resource_roles${packagePart(type)}`;
}

/** Writes the tests for computed roles on instances with these types. */
export function computedTests(types: readonly string[]): TestRules {
	return {
		tests: types.map(
			(type) => rego`test_computed_roles${packagePart(type)}[concat(" and ", roles)] if {
	some one, _ in assignable_roles(${type})
	some other, _ in assignable_roles(${type})
	roles := {one, other}
	computed_roles_are_right(${type}, roles)
}`,
		),
		helpers: [
			rego`# A holder of two assigned roles holds exactly the roles computed from them.
computed_roles_are_right(type, roles) if {
	facts := object.union_n([with_role_on(type, "object", role) | some role in roles])
	held(object_in(type, "here"), facts) == with_computed(type, roles)
	allowed(object_in(type, "here"), facts) == granted_by_resource_roles(type, with_computed(type, roles))
}`,
			rego`assignable_roles(type) := {role: row |
	some role, row in resource_roles[type]
	not role in object.get(computed_roles, type, set())
}`,
			rego`with_computed(type, roles) := roles | {role |
	some role in object.get(computed_roles, type, set())
	computed(type, role, roles)
}`,
		],
	};
}

/**
 * Writes the tests for role derivations on instances with these types. `computes` is as in `resourceRoleTests`.
 * `fromComputed` is true if roles are derived from computed roles: then the table `assigned_roles` lists roles by which
 * a user holds such a role.
 */
export function derivationTests(types: readonly string[], computes: boolean, fromComputed: boolean): TestRules {
	const expected = withComputed(computes);
	const isHoldable = fromComputed
		? rego`
	count(assigned_for(inner)) > 0`
		: rego``;
	const sourceOn = (key: Fragment, row: Fragment) =>
		fromComputed ? rego`with_source_on(${key}, ${row})` : rego`with_role_on(${row}.subject, ${key}, ${row}.source)`;
	return {
		tests: types.flatMap((type) => [
			rego`test_derivations${packagePart(type)}[name] if {
	some derivation in derivations${packagePart(type)}
	name := name_of(derivation)
	derivation_is_right(${type}, derivation)
}`,
			rego`test_derivations_in_a_row${packagePart(type)}[name] if {
	some derivation in derivations${packagePart(type)}
	some inner in object.get(derivations, derivation.subject, [])
	inner.role == derivation.source${isHoldable}
	name := concat(" and ", [name_of(derivation), name_of(inner)])
	derivations_are_right_in_a_row(${type}, derivation, inner)
}`,
			rego`test_derivations_beside_assigned_roles${packagePart(type)}[name] if {
	some derivation in derivations${packagePart(type)}
	name := name_of(derivation)
	every role, _ in ${assignable(computes, type)} {
		derivation_is_right_beside(${type}, derivation, role)
	}
}`,
		]),
		helpers: [
			rego`name_of(row) := concat("", [row.role, " from ", row.subject, "#", row.source, " by ", row.relation])`,
			rego`# A holder of the source role on the subject holds exactly the derived roles on the object.
derivation_is_right(type, derivation) if {
	facts := with_relation(type, derivation)
	roles := ${expected(rego`{row.role | some row in alike(type, derivation)}`)}
	held(object_in(type, "here"), facts) == roles
	held(object_in(type, "elsewhere"), facts) == set()
	allowed(object_in(type, "here"), facts) == granted_by_resource_roles(type, roles)
}`,
			rego`# A role can be derived from a derived role.
derivations_are_right_in_a_row(type, derivation, inner) if {
	facts := with_two_relations(type, derivation, inner)
	derivation.role in held(object_in(type, "here"), facts)
}`,
			rego`# A role assigned on the object disables derivations with "no_direct_roles_on_object".
derivation_is_right_beside(type, derivation, assigned) if {
	facts := object.union(with_relation(type, derivation), with_role_on(type, "object", assigned))
	roles := {row.role | some row in alike(type, derivation); not row.no_direct_roles_on_object}
	held(object_in(type, "here"), facts) == ${expected(rego`roles | {assigned}`)}
}`,
			rego`# Derivations with the same subject, relation and source role.
alike(type, derivation) := [row |
	some row in derivations[type]
	row.relation == derivation.relation
	${fromComputed ? rego`row.source in with_computed(derivation.subject, assigned_for(derivation))` : rego`row.source == derivation.source`}
]`,
			...(fromComputed
				? [
						rego`# Roles by which a user holds the source role: this role, or roles from which it is computed.
assigned_for(derivation) := object.get(assigned_roles, [derivation.subject, derivation.source], {derivation.source})`,
						rego`with_source_on(key, derivation) := object.union_n(array.concat(
	[nothing_held],
	[with_role_on(derivation.subject, key, role) | some role in assigned_for(derivation)],
))`,
					]
				: []),
			rego`# Facts: the source role on the subject, and a relationship from the subject to the object.
with_relation(type, derivation) := object.union(
	${sourceOn(rego`"subject"`, rego`derivation`)},
	related(type, "object", derivation, "subject"),
)`,
			rego`# Facts: the source role of the inner derivation on the origin, and relationships from origin to subject to object.
with_two_relations(type, derivation, inner) := object.union_n([
	${sourceOn(rego`"origin"`, rego`inner`)},
	related(derivation.subject, "subject", inner, "origin"),
	related(type, "object", derivation, "subject"),
	{"closures": {instance(type, "object"): led_by(derivation.role, inner, instance(inner.subject, "origin")) |
		not derivation.no_direct_roles_on_object
		not inner.no_direct_roles_on_object
	}},
])`,
			rego`related(type, key, derivation, subject) := object.union_n(array.concat(
	[{
		"instances": {instance(type, key): "here"},
		"relations": {instance(type, key): {derivation.relation: {instance(derivation.subject, subject): null}}},
	}],
	[{"closures": {instance(type, key): led_by(row.role, row, instance(row.subject, subject))}} |
		some row in alike(type, derivation)
		not row.no_direct_roles_on_object
	],
))`,
			rego`# A closure entry. Each unconditional derivation has one; only roles in a cycle use the closures.
led_by(role, row, subject) := {concat("", [role, " from ", row.subject, "#", row.source]): {subject: null}}`,
		],
	};
}
