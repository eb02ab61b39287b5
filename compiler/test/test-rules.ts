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
						rego`# A tenant role that granted the action would allow it, whether there is one that does or not.
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
	rego`# Of the actions of a resource's type, those that the policy allows the user whom the facts are about. It asks the rule
# that decides: to find a code for each denial would only take longer. Conditions are left out.
allowed(resource, facts) := {action |
	some action in actions_of(resource.type)
	question := {"user": {"key": "someone"}, "action": action, "resource": resource, "conditions": false}
	check.permitted with input as question with data.regolith.facts as facts
}`,
	rego`actions_of(type) := object.get(actions, type, set())`,
	rego`# Two tenants and one user, who holds nothing yet.
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
			rego`# A tenant role allows what it grants and nothing else; in another tenant, nothing at all.
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

/** Writes the tests for roles on instances with these types. */
export function resourceRoleTests(types: readonly string[]): TestRules {
	return {
		tests: types.flatMap((type) => [
			rego`test_resource_roles${packagePart(type)}[role] if {
	some role, _ in resource_roles${packagePart(type)}
	resource_role_is_right(${type}, role)
}`,
		]),
		helpers: [
			rego`# A role on an instance allows what it grants and nothing else; on another instance or in another tenant, nothing. If
# it granted every action, it would allow every action, and if nothing granted any, it would be held in vain.
resource_role_is_right(type, role) if {
	facts := object.union(with_role_on(type, "object", role), {"instances": {instance(type, "other"): "here"}})
	held(object_in(type, "here"), facts) == {role}
	allowed(object_in(type, "here"), facts) == granted_by_resource_roles(type, {role})
	allowed(object_in(type, "elsewhere"), facts) == set()
	allowed({"type": type, "key": "other", "tenant": "here"}, facts) == set()
	grants := {type: {action: {role: null} | some action in actions_of(type)}}
	allowed(object_in(type, "here"), facts) == actions[type] with data.regolith.schema.resource_grants as grants
	denials(object_in(type, "here"), facts) - {"no_permission"} == set() with data.regolith.schema.resource_grants as {}
		with data.regolith.schema.other_roles as grants
	denials({"type": type, "key": "other", "tenant": "here"}, facts) - {"no_graph_roles"} == set()
}`,
			rego`# The codes of what is denied: they tell whether any role is held.
denials(resource, facts) := {code |
	some action in actions_of(resource.type)
	question := {"user": {"key": "someone"}, "action": action, "resource": resource, "conditions": false}
	code := check.code with input as question with data.regolith.facts as facts
}`,
			rego`# The roles that the same user holds on an instance, as the policy says.
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

/** Writes the tests for role derivations on instances with these types. */
export function derivationTests(types: readonly string[]): TestRules {
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
	inner.role == derivation.source
	name := concat(" and ", [name_of(derivation), name_of(inner)])
	derivations_are_right_in_a_row(${type}, derivation, inner)
}`,
			rego`test_derivations_beside_assigned_roles${packagePart(type)}[name] if {
	some derivation in derivations${packagePart(type)}
	name := name_of(derivation)
	every role, _ in resource_roles${packagePart(type)} {
		derivation_is_right_beside(${type}, derivation, role)
	}
}`,
		]),
		helpers: [
			rego`name_of(row) := concat("", [row.role, " from ", row.subject, "#", row.source, " by ", row.relation])`,
			rego`# Who holds the source role on the subject holds all that is derived from it on the object, and nothing else.
derivation_is_right(type, derivation) if {
	facts := with_relation(type, derivation)
	roles := {row.role | some row in alike(type, derivation)}
	held(object_in(type, "here"), facts) == roles
	held(object_in(type, "elsewhere"), facts) == set()
	allowed(object_in(type, "here"), facts) == granted_by_resource_roles(type, roles)
}`,
			rego`# The source role may be derived itself.
derivations_are_right_in_a_row(type, derivation, inner) if {
	facts := with_two_relations(type, derivation, inner)
	derivation.role in held(object_in(type, "here"), facts)
}`,
			rego`# The same for one who has a role assigned on the object: what that stops is not derived.
derivation_is_right_beside(type, derivation, assigned) if {
	facts := object.union(with_relation(type, derivation), with_role_on(type, "object", assigned))
	roles := {row.role | some row in alike(type, derivation); not row.no_direct_roles_on_object}
	held(object_in(type, "here"), facts) == roles | {assigned}
}`,
			rego`# The derivations that the same subject, relation and source role lead to.
alike(type, derivation) := [row |
	some row in derivations[type]
	row.relation == derivation.relation
	row.source == derivation.source
]`,
			rego`# The source role on the subject, which is related to the object.
with_relation(type, derivation) := object.union(
	with_role_on(derivation.subject, "subject", derivation.source),
	related(type, "object", derivation, "subject"),
)`,
			rego`# The source role of the inner derivation on the origin, which is related to the subject as that is to the object.
with_two_relations(type, derivation, inner) := object.union_n([
	with_role_on(inner.subject, "origin", inner.source),
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
			rego`# An entry of the closures. There is one for each derivation that nothing stops; only roles in a cycle look at them.
led_by(role, row, subject) := {concat("", [role, " from ", row.subject, "#", row.source]): {subject: null}}`,
		],
	};
}
