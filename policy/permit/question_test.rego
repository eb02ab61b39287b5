package permit.question_test

import data.permit.question
import data.permit.root
import data.permit.user_permissions
import data.regolith.environment_test as environment

# Only a decision point may set holdings.
test_holdings_are_not_passed_on if {
	holdings := {"document": {"author": {"document:d1": null}}}
	question.asked({"user": {"key": "ann", "holdings": holdings, "attributes": {"holdings": holdings}}}).user == {
		"key": "ann",
		"attributes": {"holdings": holdings},
	}
}

test_checks_with_contextual_facts_are_denied if {
	question_of_eve := {"user": "eve", "action": "write", "resource": {"type": "document", "key": "d2", "tenant": "acme"}}
	allowed(question_of_eve)
	allowed(object.union(question_of_eve, {"contextual_facts": null}))
	not allowed(object.union(question_of_eve, {"contextual_facts": {}}))
	not allowed(object.union(question_of_eve, {"contextual_facts": {"role_assignments": []}}))
}

test_listings_with_contextual_facts_are_undefined if {
	user_permissions.permissions with input as {"user": "eve"}
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
	not user_permissions.permissions with input as {"user": "eve", "contextual_facts": {}}
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

allowed(request) if root.allow with input as request
	with data.regolith.schema as environment.schema
	with data.regolith.facts as environment.facts
