# METADATA
# title: Root
# description: |
#   One check, at the path and in the shape that clients ask an OPA for: `POST /v1/data/permit/root`. The policy of
#   Regolith decides.
#   Input: {"user", "action", "resource", "context"?, "use_debugger"?}, as a decision point takes it.
package permit.root

import data.permit.question
import data.regolith.check
import data.regolith.explain

# METADATA
# description: Whether the action is allowed.
default allow := false

allow if check.allow with input as question.asked(input)

# METADATA
# description: The same, for older clients.
result := allow

# METADATA
# description: The models that allow.
allowing_sources contains model if {
	some model in ["rbac", "rebac", "abac"]
	sections := explain.sections with input as question.asked(input)
	sections[model].allow
}

# METADATA
# description: Whether reasons were asked for.
default debugger_activated := false

debugger_activated if input.use_debugger == true

# METADATA
# description: The reasons, when they were asked for.
debug := sections if {
	debugger_activated
	sections := explain.sections with input as question.asked(input)
}
