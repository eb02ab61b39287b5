# METADATA
# title: Root
# description: |
#   Decides a single check, with the path and format that OPA clients use: `POST /v1/data/permit/root`. Delegates to
#   `data.regolith.check`.
#   Input: {"user", "action", "resource", "context"?, "use_debugger"?}, same as for a decision point.
package permit.root

import data.permit.question
import data.regolith.check
import data.regolith.explain

# METADATA
# description: True if the action is allowed.
default allow := false

allow if check.allow with input as question.asked(input)

# METADATA
# description: Same as `allow`, for older clients.
result := allow

# METADATA
# description: Models that allow the check.
allowing_sources contains model if {
	some model in ["rbac", "rebac", "abac"]
	sections := explain.sections with input as question.asked(input)
	sections[model].allow
}

# METADATA
# description: True if the request asks for reasons.
default debugger_activated := false

debugger_activated if input.use_debugger == true

# METADATA
# description: Reasons, if requested.
debug := sections if {
	debugger_activated
	sections := explain.sections with input as question.asked(input)
}
