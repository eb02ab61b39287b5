# METADATA
# description: Suspended grants deny with a separate code, and all other grants still apply.
package regolith.pending_test

import data.regolith.abac
import data.regolith.check
import data.regolith.environment_test as environment
import data.regolith.explain

sign(user, key) := {"user": {"key": user}, "action": "sign", "resource": {"type": "document", "tenant": "acme", "key": key}}

read(user, key) := object.union(sign(user, key), {"action": "read"})

code(question, pending) := answer if {
	answer := check.code with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
		with data.regolith.pending as pending
}

# The rule for seniors was removed; the rule for viewers and drafts still applies.
rules := {
	"actions": {"document": {"sign": null}},
	"set_rules": {"document": {"sign": {"__autogen_viewer": {"drafts": null}}}},
}

none := {"actions": {"document": {"sign": null}}, "set_rules": {"document": {"sign": {}}}}

derivation := {
	"actions": {"document": {"read": null}},
	"derivations": {"document": {"reader": {"parent from folder#keeper": null}}},
}

test_rules_that_stand_go_on if {
	code(sign("ann", "d1"), rules) == "allow"
	code(sign("eve", "d1"), rules) == "policy_pending"
}

test_no_rule_stands if {
	code(sign("ann", "d1"), none) == "policy_pending"
	code(sign("eve", "d1"), none) == "policy_pending"
	code(read("ann", "d1"), none) == "allow"
}

test_allowing_rules_are_those_that_stand if {
	allowing(sign("ann", "d1"), rules) == {{"role": "viewer", "resourceset": "drafts"}}
	allowing(sign("eve", "d1"), rules) == set()
}

allowing(question, pending) := answer if {
	answer := abac.allowing_rules with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
		with data.regolith.pending as pending
}

test_derivations_are_suspended_and_assignments_go_on if {
	code(read("eve", "d1"), {}) == "allow"
	code(read("eve", "d1"), derivation) == "policy_pending"
	code(read("eve", "d2"), derivation) == "allow"
	code(sign("eve", "d1"), derivation) == "allow"
}

test_what_does_not_exist_is_told_first if {
	code(object.union(sign("eve", "d1"), {"action": "fly"}), rules) == "no_such_action"
	code(sign("nobody", "d1"), rules) == "policy_pending"
	code(object.union(sign("ann", "d1"), {"resource": {"type": "document", "tenant": "none", "key": "d1"}}), rules) == "no_such_tenant"
}

test_explained if {
	sections := explain.sections with input as sign("eve", "d1")
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
		with data.regolith.pending as rules
	sections.pending.code == "policy_pending"
	not sections.pending.allow
}
