# METADATA
# title: Any tenant
# description: |
#   Tenants where a check is allowed: `POST /v1/data/permit/any_tenant`. For an existing user, only the user's tenants
#   are checked; for an unknown user, all tenants.
#   Input: same as for one check; the resource's tenant is ignored.
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
