# METADATA
# title: Bulk
# description: |
#   Decides several checks, in order: `POST /v1/data/permit/bulk`.
#   Input: an array of checks, or {"checks": array}.
package permit.bulk

import data.permit.question
import data.permit.root

# METADATA
# description: One result per check, in the same order.
allow := [answer |
	some asked in question.checks(input)
	answer := root with input as asked
]
