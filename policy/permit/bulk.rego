# METADATA
# title: Bulk
# description: |
#   Multiple checks, in order: `POST /v1/data/permit/bulk`.
#   Input: an array of checks, or {"checks": array}.
package permit.bulk

import data.permit.question
import data.permit.root

# METADATA
# description: Results, one per check.
allow := [answer |
	some asked in question.checks(input)
	answer := root with input as asked
]
