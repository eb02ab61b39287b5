# METADATA
# title: Check
# description: |
#   Decides one question: may this user do this action on this resource?
#   Every model of the schema is asked; one that grants is enough, and nothing can take a grant back.
#   Whatever is unknown, missing or malformed denies with a code.
#   Input: {"user": {"key", "attributes"?}, "action", "resource": {"type", "tenant", "key"?, "attributes"?}, "context"?}.
package regolith.check

import data.regolith.abac
import data.regolith.rbac
import data.regolith.rebac

# METADATA
# description: Whether the action is allowed.
default allow := false

allow if code == "allow"

# METADATA
# title: Code
# description: |
#   The string "allow", or the code of the first condition that failed. Where roles in tenants and roles on instances
#   could both have granted, roles that are held and do not suffice are told before roles that are not held. Conditions
#   name the code only where a decision point leaves them out that could have granted: its context says that it does.
#   Before those comes `policy_pending`: what could grant the action was added, changed or taken away by a newer schema
#   whose policy is not in force yet. What was taken away grants nothing in the meantime.
# entrypoint: true
code := verdict(null)

# METADATA
# title: Verdict
# description: |
#   The code, as a function of nothing: each check comes here, and a rule without parameters is remembered until the
#   check is decided, which costs more than a look. So `permitted` is spelled out. Nothing is pending at most times,
#   which one look tells.
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
# description: The check names a type, an action or a tenant that does not exist.
misnamed if rbac.unknown != "user_not_synced"

# METADATA
# title: Decision
# description: The answer to a check as one object.
# entrypoint: true
decision := {"allow": code == "allow", "code": code}

# METADATA
# description: |
#   The rule that the schema generates for this action on this resource type, found by its path:
#   the cost does not grow with the schema. While a newer schema waits for its policy, also what is left of set rules.
permitted if data.regolith.resources[input.resource.type].permits[input.action]

permitted if {
	data.regolith.pending
	abac.standing
}
