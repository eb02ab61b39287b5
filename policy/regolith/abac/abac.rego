# METADATA
# title: Conditions
# description: |
#   Attribute-based access control. A rule lets those whom a user set selects do an action on what a resource set
#   selects. Sets and rules are generated: `data.regolith.matching.user_sets`, `data.regolith.matching.resource_sets[type]`
#   and `data.regolith.set_rules[type][action].granted`. The rules are data too, for explanations.
package regolith.abac

import data.regolith.rbac
import data.regolith.rebac

# METADATA
# title: Granted
# description: |
#   A rule of the action joins sets of which both match. For explanations and listings; a check asks the rules of its
#   action by their name.
granted if data.regolith.set_rules[input.resource.type][input.action].granted

granted if standing

# METADATA
# title: Standing
# description: |
#   A rule that goes on grants, while others of the action are suspended: a newer schema, whose policy is not in force
#   yet, took them away or changed their sets. Those that go on are a table then, and their sets are found by key, of all that match.
standing if {
	rules := data.regolith.pending.set_rules[input.resource.type][input.action]
	evaluated
	some user_set, resource_sets in rules
	data.regolith.matching.user_sets[user_set]
	some resource_set, _ in resource_sets
	data.regolith.matching.resource_sets[input.resource.type][resource_set]
}

# METADATA
# title: In force
# description: The rule that joins two sets may decide about the action. For explanations.
in_force(_, _) if not data.regolith.pending.set_rules[input.resource.type][input.action]

in_force(user_set, resource_set) if {
	data.regolith.pending.set_rules[input.resource.type][input.action][user_set][resource_set] == null
}

# METADATA
# title: Evaluated
# description: |
#   Sets can match at all: the tenant exists, and the instance, where it is stored, is in it. A user or an instance that
#   is not stored is judged by what the check sends. A check that sets `conditions` to false leaves sets out: listings
#   do, unless they are asked for them.
default evaluated := false

evaluated if {
	not unsupported
	not input.conditions == false
	rbac.tenant_known
	not misplaced
}

# METADATA
# description: The instance is stored in another tenant than that of the check.
misplaced if data.regolith.facts.instances[rebac.name] != input.resource.tenant

# METADATA
# description: The decision point says that it does not evaluate conditions.
unsupported if input.context.pdp_type == "cloud"

# METADATA
# title: Unanswered
# description: A rule could have granted the action, and the decision point does not evaluate conditions.
unanswered if {
	unsupported
	data.regolith.schema.set_rules[input.resource.type][input.action]
}

# METADATA
# title: Active
# description: The environment has condition sets. For explanations.
active if count(data.regolith.schema.user_sets) > 0

active if count(data.regolith.schema.resource_sets) > 0

# METADATA
# title: Matching user sets
# description: The keys of all user sets that select the user. For explanations; a check asks `granted`, which costs less.
matching_user_sets contains user_set if {
	evaluated
	some user_set, _ in data.regolith.schema.user_sets
	data.regolith.matching.user_sets[user_set]
}

# METADATA
# title: Matching resource sets
# description: The keys of all resource sets of the type that select the resource. For explanations.
matching_resource_sets contains resource_set if {
	evaluated
	some resource_set, _ in data.regolith.schema.resource_sets[input.resource.type]
	data.regolith.matching.resource_sets[input.resource.type][resource_set]
}

# METADATA
# title: Allowing rules
# description: |
#   The rules that grant the action, each as {"userset" or "role", "resourceset" or "resource_type"}: automatic sets are
#   told by the role or the resource type that they stand for.
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
# title: Denial
# description: Why conditions do not grant the action; the first condition that fails names the code.
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
