# METADATA
# title: Any tenant
# description: |
#   Lists the tenants where a check is allowed: `POST /v1/data/permit/any_tenant`. Checks the user's tenants, or all
#   tenants if the user is unknown.
#   Input: same as for a single check. The resource's tenant is ignored.
package permit.any_tenant

import data.permit.candidates
import data.permit.question
import data.regolith.check

# METADATA
# description: Tenants where the check is allowed, with their attributes.
allowed_tenants := [answer |
	some tenant in candidates.tenants
	asked := object.union(question.asked(input), {"resource": {"tenant": tenant}})
	check.allow with input as asked
	answer := {
		"allow": true,
		"result": true,
		"tenant": {"key": tenant, "attributes": data.regolith.facts.tenants[tenant]},
	}
]
