# METADATA
# title: Conditions
# description: |
#   Attribute-based access control. A rule allows the users in a user set to do an action on the resources in a resource
#   set. Sets and rules are generated: `data.regolith.matching.user_sets`, `data.regolith.matching.resource_sets[type]`
#   and `data.regolith.set_rules[type][action].granted`. The rules are also stored as data, for explanations.
package regolith.abac

import data.regolith.rbac
import data.regolith.rebac

# METADATA
# title: Granted by a rule
# description: |
#   A rule grants the action, because both its sets match. For explanations and listings; a check calls the action's
#   rules by name.
granted if data.regolith.set_rules[input.resource.type][input.action].granted

granted if standing

# METADATA
# title: Granted despite suspended rules
# description: |
#   A set rule still grants the action while other rules for the action are suspended, because a newer schema, whose
#   policy is pending, removed them or changed their sets. The remaining rules are then a table, and their sets are
#   looked up by key among all matching sets.
standing if {
	rules := data.regolith.pending.set_rules[input.resource.type][input.action]
	evaluated
	some user_set, resource_sets in rules
	data.regolith.matching.user_sets[user_set]
	some resource_set, _ in resource_sets
	data.regolith.matching.resource_sets[input.resource.type][resource_set]
}

# METADATA
# title: Rule in force
# description: The rule between the two sets is not suspended. For explanations.
in_force(_, _) if not data.regolith.pending.set_rules[input.resource.type][input.action]

in_force(user_set, resource_set) if {
	data.regolith.pending.set_rules[input.resource.type][input.action][user_set][resource_set] == null
}

# METADATA
# title: Conditions are evaluated
# description: |
#   Sets can match, because the tenant exists and a stored instance is in this tenant. For a user or an instance that is
#   not stored, the attributes in the check count. A check with `conditions` set to false skips sets; listings do this
#   unless the request asks for conditions.
default evaluated := false

evaluated if {
	not unsupported
	not input.conditions == false
	rbac.tenant_known
	not misplaced
}

# METADATA
# title: Evaluated like roles
# description: |
#   As `evaluated`, for a listing that skips conditions. A rule still counts if its user set requires a role on the
#   resource, and its sets compare nothing else, because such a rule acts like a role.
evaluated_like_roles if {
	input.conditions == false
	not unsupported
	rbac.tenant_known
	not misplaced
}

# METADATA
# description: The instance is stored in a different tenant than the check's tenant.
misplaced if data.regolith.facts.instances[rebac.name] != input.resource.tenant

# METADATA
# description: The decision point does not evaluate conditions, according to the context.
unsupported if input.context.pdp_type == "cloud"

# METADATA
# title: Conditions are not evaluated
# description: A rule could grant the action, but the decision point does not evaluate conditions.
unanswered if {
	unsupported
	data.regolith.schema.set_rules[input.resource.type][input.action]
}

# METADATA
# title: Condition sets exist
# description: The environment has condition sets. For explanations.
active if count(data.regolith.schema.user_sets) > 0

active if count(data.regolith.schema.resource_sets) > 0

# METADATA
# title: Matching user sets
# description: Keys of all user sets that match the user. For explanations; a check uses `granted`, which is cheaper.
matching_user_sets contains user_set if {
	evaluated
	some user_set, _ in data.regolith.schema.user_sets
	data.regolith.matching.user_sets[user_set]
}

# METADATA
# title: Matching resource sets
# description: Keys of all resource sets of the type that match the resource. For explanations.
matching_resource_sets contains resource_set if {
	evaluated
	some resource_set, _ in data.regolith.schema.resource_sets[input.resource.type]
	data.regolith.matching.resource_sets[input.resource.type][resource_set]
}

# METADATA
# title: Allowing rules
# description: |
#   Rules that grant the action, each as {"userset" or "role", "resourceset" or "resource_type"}. An automatic set is
#   represented by its role or resource type.
allowing_rules contains object.union(user_side, resource_side) if {
	evaluated
	some user_set, resource_sets in data.regolith.schema.set_rules[input.resource.type][input.action]
	data.regolith.matching.user_sets[user_set]
	some resource_set, _ in resource_sets
	data.regolith.matching.resource_sets[input.resource.type][resource_set]
	in_force(user_set, resource_set)
	role := object.get(data.regolith.schema.user_sets, user_set, null)
	user_side := _side("role", role, "userset", user_set)
	type := object.get(data.regolith.schema.resource_sets[input.resource.type], resource_set, null)
	resource_side := _side("resource_type", type, "resourceset", resource_set)
}

_side(_, null, name, set) := {name: set}

_side(name, stands_for, _, _) := {name: stands_for} if stands_for != null

# METADATA
# title: Denial code
# description: Denial code for condition sets, chosen by the first failing condition.
default denial := "no_matching_rules"

denial := "cloud_pdp_not_supporting_abac" if {
	unsupported
} else := rbac.unknown if {
	rbac.unknown != "user_not_synced"
} else := "tenant_mismatch" if {
	misplaced
} else := "no_matching_usersets" if {
	count(matching_user_sets) == 0
} else := "no_matching_resourcesets" if {
	count(matching_resource_sets) == 0
}
