# METADATA
# title: Check
# description: |
#   Decides one check: may this user do this action on this resource?
#   Every model in the schema is evaluated. A grant from one model is enough, and no model can revoke a grant.
#   Unknown, missing or malformed input is denied with a code.
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
#   the action, insufficient roles are reported before missing roles. Conditions determine the code only if they could
#   grant the action and the decision point does not evaluate them, according to the context. `policy_pending` precedes
#   these codes: a newer schema, whose policy is pending, added, changed or removed a possible grant. Removed grants do
#   not apply while the policy is pending.
# entrypoint: true
code := verdict(null)

# METADATA
# title: Verdict
# description: |
#   The code, as a function with an unused parameter. Every check evaluates this function once. A rule without
#   parameters would be cached, and the cache costs more than it saves, so the body of `permitted` is repeated here.
#   Usually nothing is pending, which takes a single look-up to find out.
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
# description: The check has a resource type, action or tenant that does not exist.
misnamed if rbac.unknown != "user_not_synced"

# METADATA
# title: Decision object
# description: Check result as an object.
# entrypoint: true
decision := {"allow": code == "allow", "code": code}

# METADATA
# description: |
#   The generated rule for this action on this resource type grants the action. The rule is found by path, so the cost
#   does not grow with the schema. While the policy for a newer schema is pending, the remaining set rules count too.
permitted if data.regolith.resources[input.resource.type].permits[input.action]

permitted if {
	data.regolith.pending
	abac.standing
}
