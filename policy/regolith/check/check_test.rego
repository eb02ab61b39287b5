package regolith.check_test

import data.regolith.check
import data.regolith.environment_test as environment

ask(user, action, type, tenant) := {
	"user": {"key": user},
	"action": action,
	"resource": {"type": type, "tenant": tenant},
}

# Each case also fails all later conditions, so the code comes from the first failed condition.
questions := {
	"a role grants": {"input": ask("ann", "read", "document", "acme"), "code": "allow"},
	"another role in another tenant": {"input": ask("ann", "write", "document", "beta"), "code": "allow"},
	"no such resource": {"input": ask("nobody", "print", "invoice", "none"), "code": "no_such_resource"},
	"no such action": {"input": ask("nobody", "print", "document", "none"), "code": "no_such_action"},
	"a resource type without actions": {"input": ask("ann", "read", "folder", "acme"), "code": "no_such_action"},
	"no such tenant": {"input": ask("nobody", "write", "document", "none"), "code": "no_such_tenant"},
	"user not synced": {"input": ask("nobody", "write", "document", "acme"), "code": "user_not_synced"},
	"no user roles": {"input": ask("eve", "write", "document", "acme"), "code": "no_user_roles"},
	"no role in tenant": {"input": ask("bob", "write", "document", "acme"), "code": "no_role_in_tenant"},
	"no permission": {"input": ask("bob", "write", "document", "beta"), "code": "no_permission"},
	"a role counts in its tenant only": {"input": ask("ann", "write", "document", "acme"), "code": "no_permission"},
}

# Input that decision points never send, but a stock OPA may receive.
malformed := {
	"nothing": {"input": {}, "code": "no_such_resource"},
	"a string": {"input": "ann", "code": "no_such_resource"},
	"no resource": {"input": {"user": {"key": "ann"}, "action": "read"}, "code": "no_such_resource"},
	"resource as string": {
		"input": {"user": {"key": "ann"}, "action": "read", "resource": "document"},
		"code": "no_such_resource",
	},
	"type as array": {"input": ask("ann", "read", ["document"], "acme"), "code": "no_such_resource"},
	"type as null": {"input": ask("ann", "read", null, "acme"), "code": "no_such_resource"},
	"empty type": {"input": ask("ann", "read", "", "acme"), "code": "no_such_resource"},
	"no action": {
		"input": {"user": {"key": "ann"}, "resource": {"type": "document", "tenant": "acme"}},
		"code": "no_such_action",
	},
	"action as object": {"input": ask("ann", {"read": null}, "document", "acme"), "code": "no_such_action"},
	"action as boolean": {"input": ask("ann", true, "document", "acme"), "code": "no_such_action"},
	"tenant as array": {"input": ask("ann", "read", "document", ["acme"]), "code": "no_such_tenant"},
	"tenant as number": {"input": ask("ann", "read", "document", 1), "code": "no_such_tenant"},
	"tenant as boolean": {"input": ask("ann", "read", "document", false), "code": "no_such_tenant"},
	"tenant as null": {"input": ask("ann", "read", "document", null), "code": "no_role_in_tenant"},
	"no tenant": {
		"input": {"user": {"key": "ann"}, "action": "read", "resource": {"type": "document"}},
		"code": "no_role_in_tenant",
	},
	"no user": {
		"input": {"action": "read", "resource": {"type": "document", "tenant": "acme"}},
		"code": "user_not_synced",
	},
	"user as string": {
		"input": {"user": "ann", "action": "read", "resource": {"type": "document", "tenant": "acme"}},
		"code": "user_not_synced",
	},
	"user key as object": {"input": ask({"ann": null}, "read", "document", "acme"), "code": "user_not_synced"},
	"user key as number": {"input": ask(7, "read", "document", "acme"), "code": "user_not_synced"},
}

test_code[name] if {
	some name, question in object.union(questions, malformed)
	check.code == question.code with input as question.input
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

test_decision_and_allow_agree_with_code[name] if {
	some name, question in object.union(questions, malformed)
	allow := question.code == "allow"
	check.decision == {"allow": allow, "code": question.code} with input as question.input
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
	check.allow == allow with input as question.input
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

test_no_data_denies if {
	check.code == "no_such_resource" with input as ask("ann", "read", "document", "acme")
		with data.regolith.schema as {}
		with data.regolith.facts as {}
}

test_no_input_denies if {
	check.code == "no_such_resource" with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}
