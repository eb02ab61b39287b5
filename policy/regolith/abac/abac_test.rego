package regolith.abac_test

import data.regolith.abac
import data.regolith.check
import data.regolith.environment_test as environment

ask(user, resource) := {"user": {"key": user}, "action": "sign", "resource": object.union({"type": "document"}, resource)}

by(question, user) := object.union(question, {"user": user})

draft := {"key": "d1", "tenant": "acme"}

final := {"key": "d2", "tenant": "acme"}

sent := {"key": "new", "tenant": "acme", "attributes": {"status": "draft"}}

cloud := {"context": {"pdp_type": "cloud"}}

# The expected code for each check, which is also the code in the conditions section if the check is denied.
questions := {
	"a role and a resource set": {"input": ask("ann", draft), "code": "allow"},
	"a user set and any resource of a type": {"input": ask("eve", final), "code": "allow"},
	"no instance": {"input": ask("eve", {"tenant": "acme"}), "code": "allow"},
	"an instance that is not stored": {"input": ask("ann", sent), "code": "allow"},
	"a user who is not stored": {
		"input": by(ask("", final), {"key": "nobody", "attributes": {"level": 9}}),
		"code": "allow",
	},
	"what is sent wins over what is stored": {
		"input": by(ask("", final), {"key": "eve", "attributes": {"level": 2}}),
		"code": "no_matching_usersets",
	},
	"null takes an attribute away": {
		"input": by(ask("", final), {"key": "eve", "attributes": {"level": null}}),
		"code": "no_matching_usersets",
	},
	"other attributes stay": {
		"input": by(ask("", final), {"key": "eve", "attributes": {"address": {"zip": 1}}}),
		"code": "allow",
	},
	"an attribute of the resource is replaced": {
		"input": ask("ann", object.union(draft, {"attributes": {"status": "final"}})),
		"code": "no_matching_rules",
	},
	"roles cannot be sent": {
		"input": by(ask("", draft), {
			"key": "nobody",
			"roles": ["viewer"],
			"attributes": {"roles": ["viewer"], "key": "ann"},
		}),
		"code": "no_matching_usersets",
	},
	"nothing between what matches": {"input": ask("ann", final), "code": "no_matching_rules"},
	"another action": {"input": object.union(ask("eve", draft), {"action": "write"}), "code": "no_matching_rules"},
	"a role in another tenant": {"input": ask("ann", {"tenant": "beta"}), "code": "no_matching_usersets"},
	"an instance in another tenant": {
		"input": ask("eve", {"key": "d1", "tenant": "beta"}),
		"code": "tenant_mismatch",
	},
	"no such tenant": {"input": ask("eve", {"key": "d1", "tenant": "none"}), "code": "no_such_tenant"},
	"no tenant": {"input": ask("eve", {"key": "d1"}), "code": "no_matching_usersets"},
	"a null tenant": {"input": ask("eve", {"key": "d9", "tenant": null}), "code": "no_matching_usersets"},
	"no such type": {"input": ask("eve", {"type": "invoice", "tenant": "acme"}), "code": "no_such_resource"},
	"a type without sets": {"input": ask("eve", {"type": "folder", "tenant": "acme"}), "code": "no_such_action"},
	"no such action": {"input": object.union(ask("eve", draft), {"action": "print"}), "code": "no_such_action"},
	"the cloud": {
		"input": object.union(ask("eve", draft), cloud),
		"code": "cloud_pdp_not_supporting_abac",
	},
	"conditions left out": {"input": object.union(ask("eve", draft), {"conditions": false}), "code": "no_matching_usersets"},
	"conditions asked for": {"input": object.union(ask("eve", draft), {"conditions": true}), "code": "allow"},
}

test_question[name] if {
	some name, question in questions
	answer(question.input) == question.code
}

answer(question) := "allow" if {
	check.allow with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

answer(question) := code if {
	code := abac.denial with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
	not check.allow with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

test_no_resource_set_matches if {
	abac.denial == "no_matching_resourcesets" with input as ask("ann", final)
		with data.regolith.schema as environment.schema
		with data.regolith.schema.resource_sets as {"document": {"drafts": null}}
		with data.regolith.facts as environment.facts
}

# Only checks that a condition set might have allowed get this code.
test_codes_of_checks_in_the_cloud if {
	code(object.union(ask("eve", draft), cloud)) == "cloud_pdp_not_supporting_abac"
	code(object.union(object.union(ask("eve", draft), cloud), {"action": "write"})) == "no_permission"
	code(object.union(object.union(ask("ann", draft), cloud), {"action": "read"})) == "allow"
}

code(question) := answer if {
	answer := check.code with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

# Listings without conditions evaluate rules that act like roles in the same tenants.
test_rules_like_roles_are_evaluated_where_conditions_are_skipped if {
	skipped := {"conditions": false}
	like_roles(object.union(ask("ann", draft), skipped))
	not like_roles(ask("ann", draft))
	not like_roles(object.union(object.union(ask("ann", draft), cloud), skipped))
	not like_roles(object.union(ask("ann", {"tenant": "none"}), skipped))
	not like_roles(object.union(ask("ann", {"key": "d1", "tenant": "beta"}), skipped))
}

like_roles(question) if {
	abac.evaluated_like_roles with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

test_rules_that_allow_are_named if {
	rules(ask("ann", draft)) == {{"role": "viewer", "resourceset": "drafts"}}
	rules(ask("eve", draft)) == {{"userset": "seniors", "resource_type": "document"}}
	rules(ask("ann", final)) == set()
}

rules(question) := answer if {
	answer := abac.allowing_rules with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

test_defined_without_data_and_input if {
	not abac.granted
	not abac.active
	not abac.granted with input as "ann"
	abac.denial == "no_such_resource" with input as {} with data.regolith.schema as {}
}
