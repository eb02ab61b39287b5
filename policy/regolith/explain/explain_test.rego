package regolith.explain_test

import data.regolith.environment_test as environment
import data.regolith.explain

ask(user, action, type, tenant) := {
	"user": {"key": user},
	"action": action,
	"resource": {"type": type, "tenant": tenant},
}

sections(question) := answer if {
	answer := explain.sections with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

test_an_allowing_section_names_the_roles if {
	sections(ask("ann", "write", "document", "beta")).rbac == {
		"allow": true,
		"code": "allow",
		"reason": "the roles of user `ann` in tenant `beta` grant `document:write`",
		"allowing_roles": ["editor"],
	}
}

test_a_denying_section_says_why if {
	sections(ask("bob", "write", "document", "beta")).rbac == {
		"allow": false,
		"code": "no_permission",
		"reason": "no role of user `bob` in tenant `beta` grants `document:write`",
	}
}

reasons := {
	"no_such_resource": {
		"input": ask("ann", "read", "invoice", "acme"),
		"reason": "resource type `invoice` does not exist",
	},
	"no_such_action": {
		"input": ask("ann", "print", "document", "acme"),
		"reason": "action `print` does not exist on resource type `document`",
	},
	"no_such_tenant": {"input": ask("ann", "read", "document", "none"), "reason": "tenant `none` does not exist"},
	"user_not_synced": {"input": ask("nobody", "read", "document", "acme"), "reason": "user `nobody` does not exist"},
	"no_user_roles": {
		"input": ask("eve", "read", "document", "acme"),
		"reason": "user `eve` has no role in any tenant",
	},
	"no_role_in_tenant": {
		"input": ask("bob", "read", "document", "acme"),
		"reason": "user `bob` has no role in tenant `acme`",
	},
}

test_reason[code] if {
	some code, expected in reasons
	section := sections(expected.input).rbac
	section.code == code
	section.reason == expected.reason
}

test_a_check_without_a_tenant_says_so if {
	section := sections({"user": {"key": "ann"}, "action": "read", "resource": {"type": "document"}}).rbac
	section.code == "no_role_in_tenant"
	section.reason == "the check has no tenant, so no tenant role applies"
}

test_request_shows_what_the_policy_knows if {
	question := {
		"user": {"key": "ann", "email": "ann@example.com", "attributes": {"level": 4, "roles": ["owner"]}},
		"action": "read",
		"resource": {"type": "document", "key": "d1", "tenant": "acme"},
	}
	sections(question).request == {
		"user": {
			"key": "ann",
			"email": "ann@example.com",
			"synced": true,
			"attributes": {"key": "ann", "roles": ["viewer"], "tenants": ["acme", "beta"], "level": 4, "email": "ann@example.com"},
		},
		"tenant": "acme",
		"action": "read",
		"resource": {"type": "document", "key": "d1", "tenant": "acme", "attributes": {"status": "draft", "tags": {"a": 1}}},
	}
}

test_conditions_that_allow_name_their_rules if {
	answer := sections(ask("eve", "sign", "document", "acme"))
	object.keys(answer) == {"request", "abac"}
	answer.abac == {
		"allow": true,
		"code": "allow",
		"reason": "a condition set rule grants `document:sign`",
		"allowing_rules": [{"userset": "seniors", "resource_type": "document"}],
	}
}

test_conditions_that_deny_name_what_matches if {
	answer := sections(ask("ann", "sign", "document", "acme"))
	object.keys(answer) == {"request", "rbac", "abac"}
	answer.abac == {
		"allow": false,
		"code": "no_matching_rules",
		"reason": "no rule grants `document:sign` to a matching user set on a matching resource set",
		"matching_usersets": ["__autogen_viewer"],
		"matching_resourcesets": ["__autogen_document"],
	}
	sections(ask("nobody", "sign", "document", "acme")).abac == {
		"allow": false,
		"code": "no_matching_usersets",
		"reason": "user `nobody` matches no user set",
	}
}

test_request_of_strangers if {
	sections(ask("nobody", "read", "document", "none")).request == {
		"user": {"key": "nobody", "synced": false, "attributes": {"key": "nobody", "roles": [], "tenants": []}},
		"tenant": null,
		"action": "read",
		"resource": {"type": "document", "tenant": "none", "attributes": {}},
	}
}

malformed := [
	{},
	"ann",
	{"user": "ann", "action": 1, "resource": "document"},
	{"user": {"key": ["ann"], "attributes": 1}, "action": "read", "resource": {"type": "document", "tenant": 1}},
	{"user": {"key": {}}, "action": "read", "resource": {"type": "document", "tenant": "acme"}},
]

test_defined_for_malformed_input[index] if {
	some index, question in malformed
	answer := sections(question)
	answer.rbac.allow == false
	answer.rbac.reason == "the request is incomplete"
	answer.request.user.synced == false
}
