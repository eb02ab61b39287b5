# METADATA
# title: Check
# description: |
#   Decides one check: may this user perform this action on this resource? Evaluates every model in the schema. A grant
#   from one model is enough, and no model can revoke it. Denies unknown, missing or malformed input with a code.
#   Input: {"user": {"key", "attributes"?}, "action", "resource": {"type", "tenant", "key"?, "attributes"?},
#   "context"?}.
package regolith.check

import data.regolith.abac
import data.regolith.rbac
import data.regolith.rebac

# METADATA
# description: True if the action is allowed.
default allow := false

allow if code == "allow"

# METADATA
# title: Result code
# description: |
#   The string "allow", or the code of the first failing condition. If both tenant roles and instance roles could grant
#   the action, insufficient roles take precedence over missing roles. Condition sets determine the code only if they
#   could grant the action but the context says that the decision point does not evaluate conditions. `policy_pending`
#   takes precedence over the codes for roles: a newer schema, whose policy is still pending, adds, changes or removes a
#   possible grant. Removed grants stop applying immediately.
# entrypoint: true
code := verdict(null)

# METADATA
# title: Verdict
# description: |
#   Returns the code. This is a function with an unused parameter because rules are cached, and a check needs the code
#   only once, so the cache would cost more than it saves. For the same reason, this function repeats the body of
#   `permitted`. If nothing is pending, as usual, the pending policy costs a single lookup.
verdict(_) := "allow" if {
	data.regolith.resources[input.resource.type].permits[input.action]
} else := "allow" if {
	data.regolith.pending
	abac.standing
} else := "cloud_pdp_not_supporting_abac" if {
	input.context
	abac.unanswered
} else := "policy_pending" if {
	data.regolith.pending.actions[input.resource.type][input.action] == null
	not misnamed
} else := rebac.denial if {
	rebac.applies(input.resource)
	not rbac.held
} else := rbac.denial

# METADATA
# description: True if the check's resource type, action or tenant does not exist.
misnamed if rbac.unknown != "user_not_synced"

# METADATA
# title: Decision object
# description: The result as an object.
# entrypoint: true
decision := {"allow": code == "allow", "code": code}

# METADATA
# description: |
#   True if the generated rule for this resource type and action grants the action. The rule is looked up by path, so
#   the cost does not depend on the size of the schema. While a newer policy is pending, the remaining set rules also
#   apply.
permitted if data.regolith.resources[input.resource.type].permits[input.action]

permitted if {
	data.regolith.pending
	abac.standing
}
