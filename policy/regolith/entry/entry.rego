# METADATA
# title: Entry
# description: |
#   Dispatches to all entrypoints, for modules that have only this one. `input.entrypoint` selects the entrypoint.
#   Without it, the input is a check and the result is its code, so a plain check needs only one lookup.
package regolith.entry

import data.regolith.check
import data.regolith.explain
import data.regolith.listing

# METADATA
# title: Entrypoint result
# description: Result of the selected entrypoint for the input; undefined for an unknown entrypoint.
answer(question) := check.verdict(null) if {
	not question.entrypoint
} else := check.code if {
	question.entrypoint == "regolith/check/code"
} else := check.decision if {
	question.entrypoint == "regolith/check/decision"
} else := explain.sections if {
	question.entrypoint == "regolith/explain/sections"
} else := listing.authorized_users if {
	question.entrypoint == "regolith/listing/authorized_users"
} else := listing.instance_permissions if {
	question.entrypoint == "regolith/listing/instance_permissions"
} else := listing.user_permissions if {
	question.entrypoint == "regolith/listing/user_permissions"
} else := listing.user_tenants if {
	question.entrypoint == "regolith/listing/user_tenants"
}
