package permit.candidates_test

import data.permit.candidates

test_only_filters_of_the_request_are_passed_on if {
	asked := {"user": "ann", "time": 0, "tenants": ["acme"], "resources": [], "resource_types": null}
	candidates.filtered == {"tenants": ["acme"]} with input as asked
}
