package regolith.rebac_test

import data.regolith.check
import data.regolith.environment_test as environment
import data.regolith.explain
import data.regolith.rebac

ask(user, action, key, tenant) := {
	"user": {"key": user},
	"action": action,
	"resource": {"type": "document", "key": key, "tenant": tenant},
}

code(question) := answer if {
	answer := check.code with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

sections(question) := answer if {
	answer := explain.sections with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

questions := {
	"assigned": {"input": ask("eve", "write", "d2", "acme"), "code": "allow"},
	"derived": {"input": ask("eve", "read", "d1", "acme"), "code": "allow"},
	"derived roles grant only their actions": {"input": ask("eve", "write", "d1", "acme"), "code": "no_permission"},
	"a tenant role": {"input": ask("ann", "read", "d1", "acme"), "code": "allow"},
	"a tenant role that does not suffice": {"input": ask("ann", "write", "d1", "acme"), "code": "no_permission"},
	"no role": {"input": ask("bob", "read", "d1", "acme"), "code": "no_graph_roles"},
	"another tenant": {"input": ask("eve", "read", "d1", "beta"), "code": "tenant_mismatch"},
	"no such instance": {"input": ask("eve", "read", "d9", "acme"), "code": "no_such_resource_instance"},
	"no such tenant": {"input": ask("eve", "read", "d1", "none"), "code": "no_such_tenant"},
	"no such user": {"input": ask("nobody", "read", "d1", "acme"), "code": "user_not_synced"},
	"a malformed key": {"input": ask("eve", "read", ["d1"], "acme"), "code": "no_user_roles"},
	"a malformed user": {"input": ask({"eve": null}, "read", "d1", "acme"), "code": "user_not_synced"},
}

test_code[name] if {
	some name, question in questions
	code(question.input) == question.code
}

holding(question, holdings) := object.union(question, {"user": {"holdings": holdings}})

test_given_holdings_replace_stored_assignments if {
	question := ask("eve", "write", "d2", "acme")
	code(holding(question, {"document": {"author": {"document:d1": null}}})) == "no_graph_roles"
	code(holding(ask("eve", "write", "d1", "acme"), {"document": {"author": {"document:d1": null}}})) == "allow"
	code(holding(ask("bob", "read", "d1", "acme"), {"folder": {"keeper": {"folder:f1": null}}})) == "allow"
	code(holding(question, {})) == "no_graph_roles"
}

test_holdings_that_are_no_object_count_as_absent if {
	every holdings in [null, "document", [], true] {
		code(holding(ask("eve", "write", "d2", "acme"), holdings)) == "allow"
	}
}

test_sections_name_the_assignment if {
	sections(ask("eve", "write", "d2", "acme")).rebac == {
		"allow": true,
		"code": "allow",
		"reason": "the roles of user `eve` on `document:d2` grant `document:write`",
		"allowing_roles": [{
			"role": "document:d2#author",
			"resource": "document:d2",
			"reason": "user `eve` holds `author` on `document:d2`",
			"sources": [{
				"type": "role_assignment",
				"role": "document:d2#author",
				"resource": "document:d2",
			}],
		}],
	}
}

test_sections_name_the_derivation if {
	some role in sections(ask("eve", "read", "d1", "acme")).rebac.allowing_roles
	role.sources == [{
		"type": "role_derivation",
		"role": "folder:f1#keeper",
		"resource": "folder:f1",
		"relation": "parent",
	}]
}

test_a_model_that_denies_is_silent_when_another_allows if {
	object.keys(sections(ask("eve", "read", "d1", "acme"))) == {"request", "rebac"}
	object.keys(sections(ask("ann", "read", "d1", "acme"))) == {"request", "rbac"}
	object.keys(sections(ask("bob", "read", "d1", "acme"))) == {"request", "abac", "rbac", "rebac"}
}

holdings_of(user) := holdings if {
	holdings := rebac.holdings_or_none with input.user as user with data.regolith.facts as environment.facts
}

test_users_without_assignments_have_empty_holdings if {
	holdings_of({"key": "eve"}) == environment.facts.user_roles.eve
	holdings_of({"key": "bob"}) == {}
	not holdings_of({"key": null})
	not holdings_of({})
}

test_meet_looks_through_the_smaller_table if {
	rebac.meet({"a": null}, {"a": null, "b": null})
	rebac.meet({"a": null, "b": null}, {"b": null})
	not rebac.meet({"a": null}, {"b": null, "c": null})
	not rebac.meet({"a": null, "b": null}, {"c": null})
	not rebac.meet({}, {})
}

test_meet_takes_sets_too if {
	rebac.meet({"a"}, {"a": null, "b": null})
	rebac.meet({"a": null, "b": null}, {"b", "c", "d"})
	not rebac.meet({"a"}, {"b": null})
	not rebac.meet(set(), {"a": null})
}

relations := {
	"a": {"parent": {"x": null, "y": null}},
	"b": {"parent": {"y": null, "z": null}},
	"c": {"owner": {"x": null}},
}

test_what_is_related_to_several_is_each_once if {
	rebac.related({"a", "b", "c"}, "parent") == {"x", "y", "z"} with data.regolith.facts.relations as relations
	rebac.related({"a": null}, "parent") == {"x": null, "y": null} with data.regolith.facts.relations as relations
	not rebac.related({"c"}, "parent") with data.regolith.facts.relations as relations
	not rebac.related({"c", "d"}, "parent") with data.regolith.facts.relations as relations
	not rebac.related(set(), "parent") with data.regolith.facts.relations as relations
}

test_what_closures_hold_is_gathered_likewise if {
	rebac.leading({"a", "b"}, "parent") == {"x", "y", "z"} with data.regolith.facts.closures as relations
	rebac.leading({"b"}, "parent") == {"y": null, "z": null} with data.regolith.facts.closures as relations
	not rebac.leading({"c", "d"}, "parent") with data.regolith.facts.closures as relations
	rebac.all_leading({"c", "d"}, "parent") == set() with data.regolith.facts.closures as relations
}

test_finds_of_walks if {
	rebac.all_of([{"a"}, set(), {"a", "b"}]) == {"a", "b"}
	rebac.unseen({"k": {"a", "b"}, "l": {"c"}}, [{"k": {"a"}}, {"l": {"c"}, "m": {"b"}}]) == {"k": {"b"}}
	rebac.together({"k": {"a"}, "l": {"b"}}, {"k": {"c"}, "m": {"d"}}) == {"k": {"a", "c"}, "l": {"b"}, "m": {"d"}}
}
