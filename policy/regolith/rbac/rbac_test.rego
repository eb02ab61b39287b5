package regolith.rbac_test

import data.regolith.environment_test as environment
import data.regolith.rbac

question := {"user": {"key": "ann"}, "action": "read", "resource": {"type": "document", "tenant": "beta"}}

test_roles_that_grant_are_named if {
	rbac.allowing_roles == {"editor"} with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

test_every_role_that_grants_is_named if {
	roles := {"editor": null, "viewer": null, "guest": null}
	rbac.allowing_roles == {"editor", "viewer"} with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts.tenant_roles.beta.ann as roles
}

test_a_role_that_lost_its_grant_grants_nothing if {
	not rbac.granted with input as question
		with data.regolith.schema.grants as {}
		with data.regolith.facts as environment.facts
}

test_denial_is_defined_for_a_granted_question if {
	rbac.denial == "no_permission" with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}
