# METADATA
# title: Conditions
# description: |
#   Attribute-based access control. A rule allows the users in a user set to perform an action on the resources in a
#   resource set. Sets and rules are generated: `data.regolith.matching.user_sets`,
#   `data.regolith.matching.resource_sets[type]` and `data.regolith.set_rules[type][action].granted`. Explanations read
#   the rules from the data.
package regolith.abac

import data.regolith.rbac
import data.regolith.rebac

# METADATA
# title: Granted by a rule
# description: |
#   True if a rule with two matching sets grants the action. Used by explanations and listings. A check calls the
#   action's rules by name.
granted if data.regolith.set_rules[input.resource.type][input.action].granted

granted if standing

# METADATA
# title: Granted despite suspended rules
# description: |
#   True if a set rule grants the action while other rules for the action are suspended. Rules are suspended while the
#   policy of a newer schema, which removes them or changes their sets, is pending. The remaining rules are in a table,
#   and their sets are looked up by key.
standing if {
	rules := data.regolith.pending.set_rules[input.resource.type][input.action]
	evaluated
	some user_set, resource_sets in rules
	data.regolith.matching.user_sets[user_set]
	some resource_set, _ in resource_sets
	data.regolith.matching.resource_sets[input.resource.type][resource_set]
}

# METADATA
# title: Active rule
# description: True if the rule between the two sets is not suspended. Used by explanations.
in_force(_, _) if not data.regolith.pending.set_rules[input.resource.type][input.action]

in_force(user_set, resource_set) if {
	data.regolith.pending.set_rules[input.resource.type][input.action][user_set][resource_set] == null
}

# METADATA
# title: Conditions are evaluated
# description: |
#   True if condition sets apply: the tenant exists, the instance is not stored in a different tenant, and `conditions`
#   is not false. Listings set `conditions` to false unless the request asks for conditions. Users and instances that
#   are not stored have only the attributes in the check.
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
#   Same as `evaluated`, for listings without conditions. They still evaluate rules whose only condition is a role on
#   the resource, because such rules act like roles.
evaluated_like_roles if {
	input.conditions == false
	not unsupported
	rbac.tenant_known
	not misplaced
}

# METADATA
# description: True if the instance is stored in a tenant other than the check's tenant.
misplaced if data.regolith.facts.instances[rebac.name] != input.resource.tenant

# METADATA
# description: True if the context says that the decision point does not evaluate conditions.
unsupported if input.context.pdp_type == "cloud"

# METADATA
# title: Conditions are not evaluated
# description: True if a rule might grant the action, but the decision point does not evaluate conditions.
unanswered if {
	unsupported
	data.regolith.schema.set_rules[input.resource.type][input.action]
}

# METADATA
# title: Condition sets exist
# description: True if the environment has condition sets. Used by explanations.
active if count(data.regolith.schema.user_sets) > 0

active if count(data.regolith.schema.resource_sets) > 0

# METADATA
# title: Matching user sets
# description: Keys of all user sets that match the user. Used by explanations; a check uses the cheaper `granted`.
matching_user_sets contains user_set if {
	evaluated
	some user_set, _ in data.regolith.schema.user_sets
	data.regolith.matching.user_sets[user_set]
}

# METADATA
# title: Matching resource sets
# description: Keys of the type's resource sets that match the resource. Used by explanations.
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
# description: |
#   Reason why condition sets deny the check: the first test below that succeeds.
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
