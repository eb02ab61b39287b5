# METADATA
# title: Any tenant
# description: |
#   In which tenants a check is allowed: `POST /v1/data/permit/any_tenant`. A user that exists is asked about their own
#   tenants, and one that does not about all.
#   Input: that of one check; the tenant of its resource does not count.
package permit.any_tenant

import data.permit.candidates
import data.permit.question
import data.regolith.check

# METADATA
# description: The tenants where the check is allowed, with their attributes.
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
