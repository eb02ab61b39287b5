package regolith.entry_test

import data.regolith.check
import data.regolith.entry
import data.regolith.explain
import data.regolith.listing

question := {"user": {"key": "ann"}, "action": "sign", "resource": {"type": "document", "tenant": "acme"}}

answer(name) := entry.answer(object.union(question, {"entrypoint": name}))

test_a_question_that_names_no_entrypoint_is_a_check if {
	entry.answer(question) == check.code with input as question
}

test_each_entrypoint_answers_by_its_name if {
	answer("regolith/check/code") == check.code with input as question
	answer("regolith/check/decision") == check.decision with input as question
	answer("regolith/explain/sections") == explain.sections with input as question
	answer("regolith/listing/user_permissions") == listing.user_permissions with input as question
	answer("regolith/listing/user_tenants") == listing.user_tenants with input as question

	asked := object.union(question, {"users": ["ann"], "instances": []})
	answer("regolith/listing/authorized_users") == listing.authorized_users with input as asked
	answer("regolith/listing/instance_permissions") == listing.instance_permissions with input as asked
}

test_no_other_name_is_answered if {
	not answer("regolith/check/allow") with input as question
	not answer("") with input as question
	not answer(null) with input as question
}
