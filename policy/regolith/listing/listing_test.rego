package regolith.listing_test

import data.regolith.check
import data.regolith.environment_test as environment
import data.regolith.listing

permissions(question) := answer if {
	answer := listing.user_permissions with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

acme := {
	"tenant": {"key": "acme", "attributes": {"plan": "pro"}},
	"permissions": ["document:read"],
	"roles": ["viewer"],
}

beta := {
	"tenant": {"key": "beta", "attributes": {}},
	"permissions": ["document:read", "document:write"],
	"roles": ["editor"],
}

everything := {"__tenant:acme": acme, "__tenant:beta": beta}

ann := {"user": {"key": "ann"}}

cases := {
	"every tenant with a role": {"input": ann, "answer": everything},
	"null filters": {
		"input": {"user": {"key": "ann"}, "tenants": null, "resources": null, "resource_types": null, "context": null},
		"answer": everything,
	},
	"tenant by key": {"input": object.union(ann, {"tenants": ["acme", "none"]}), "answer": {"__tenant:acme": acme}},
	"tenant by object": {"input": object.union(ann, {"tenants": ["__tenant:beta"]}), "answer": {"__tenant:beta": beta}},
	"no tenants": {"input": object.union(ann, {"tenants": []}), "answer": {}},
	"resource by object": {
		"input": object.union(ann, {"resources": ["__tenant:acme", "document:d1"]}),
		"answer": {"__tenant:acme": acme},
	},
	"resource by bare key": {"input": object.union(ann, {"resources": ["beta"]}), "answer": {"__tenant:beta": beta}},
	"other resources": {"input": object.union(ann, {"resources": ["document:d1"]}), "answer": {}},
	"tenants as a type": {"input": object.union(ann, {"resource_types": ["__tenant"]}), "answer": everything},
	"other types": {"input": object.union(ann, {"resource_types": ["document"]}), "answer": {}},
	"all filters hold": {
		"input": object.union(ann, {"tenants": ["acme"], "resources": ["__tenant:beta"]}),
		"answer": {},
	},
	"a malformed filter": {"input": object.union(ann, {"tenants": "acme"}), "answer": {}},
	"a user without roles": {"input": {"user": {"key": "eve"}}, "answer": {}},
	"an unknown user": {"input": {"user": {"key": "nobody"}}, "answer": {}},
	"a malformed user": {"input": {"user": {"key": 7}}, "answer": {}},
	"user as string": {"input": {"user": "ann"}, "answer": {}},
	"nothing": {"input": {}, "answer": {}},
}

test_user_permissions[name] if {
	some name, case in cases
	permissions(case.input) == case.answer
}

test_a_role_without_permissions_is_listed if {
	listed := listing.user_permissions with input as ann
		with data.regolith.schema.actions as environment.schema.actions
		with data.regolith.schema.grants as {}
		with data.regolith.facts as environment.facts
	listed["__tenant:acme"].permissions == []
	listed["__tenant:acme"].roles == ["viewer"]
}

# Listings of the environment for a question.
tenants_of(question) := answer if {
	answer := listing.user_tenants with input as question
		with data.regolith.facts as environment.facts
}

on_instances(question) := answer if {
	answer := listing.instance_permissions with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

authorized(question) := answer if {
	answer := listing.authorized_users with input as question
		with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

all_instances := [{"type": "document", "key": "d1"}, {"type": "document", "key": "d2"}, {"type": "folder", "key": "f1"}]

test_instances_on_which_a_role_is_held if {
	listed := on_instances({"user": {"key": "eve"}, "instances": all_instances})
	listed == [
		{
			"tenant": {"key": "acme", "attributes": {"plan": "pro"}},
			"resource": {"type": "document", "key": "d1", "attributes": {"status": "draft", "tags": {"a": 1}}},
			"permissions": ["document:read"],
			"roles": ["reader"],
		},
		{
			"tenant": {"key": "acme", "attributes": {"plan": "pro"}},
			"resource": {"type": "document", "key": "d2", "attributes": {}},
			"permissions": ["document:read", "document:write"],
			"roles": ["author"],
		},
		{
			"tenant": {"key": "acme", "attributes": {"plan": "pro"}},
			"resource": {"type": "folder", "key": "f1", "attributes": {}},
			"permissions": [],
			"roles": ["keeper"],
		},
	]
}

test_instances_without_a_role_are_left_out[name] if {
	some name, question in {
		"a tenant role is no role on an instance": {"user": {"key": "ann"}, "instances": all_instances},
		"an instance that does not exist": {"user": {"key": "eve"}, "instances": [{"type": "document", "key": "d9"}]},
		"an unknown user": {"user": {"key": "nobody"}, "instances": all_instances},
		"a malformed user": {"user": {"key": 7}, "instances": all_instances},
		"a malformed instance": {"user": {"key": "eve"}, "instances": [{"type": "document"}, "document:d1", null]},
		"no instances": {"user": {"key": "eve"}},
	}
	on_instances(question) == []
}

test_what_a_tenant_role_permits_is_listed_when_instances_are_asked_for if {
	question := {"user": {"key": "ann"}, "instances": all_instances, "by_permission": true}
	[[entry.resource.key, entry.permissions, entry.roles] | some entry in on_instances(question)] == [
		["d1", ["document:read"], []],
		["d2", ["document:read"], []],
	]
	on_instances(object.union(question, {"user": {"key": "nobody"}})) == []
	on_instances(object.union(question, {"by_permission": false})) == []
}

asked := {"context": {"enable_abac_user_permissions": true, "enable_abac_authorized_users": true}}

test_conditions_are_asked_when_the_context_says_so if {
	listed := on_instances(object.union({"user": {"key": "ann"}, "instances": all_instances}, asked))
	[[entry.resource.key, entry.permissions, entry.roles] | some entry in listed] == [[
		"d1", [
			"document:read",
			"document:sign",
		],
		[],
	]]
	with_roles := on_instances(object.union({"user": {"key": "eve"}, "instances": all_instances}, asked))
	[entry.permissions | some entry in with_roles] == [
		["document:read", "document:sign"],
		["document:read", "document:sign", "document:write"],
		[],
	]
	everyone := {"users": ["ann", "bob", "eve"], "action": "sign"}
	d1 := {"resource": {"type": "document", "key": "d1", "tenant": "acme"}}
	authorized(object.union(object.union(everyone, d1), asked)) == ["ann", "eve"]
	authorized(object.union(everyone, d1)) == []
}

test_tenants_where_any_role_is_held if {
	{tenant.key | some tenant in tenants_of(ann)} == {"acme", "beta"}
	tenants_of({"user": {"key": "eve"}}) == [{"key": "acme", "attributes": {"plan": "pro"}}]
	tenants_of({"user": {"key": "nobody"}}) == []
	tenants_of({"user": {"key": 7}}) == []
	tenants_of({}) == []
}

# The condition holds for readers, not for authors. `d1` and `d2` are in different tenants.
with_conditions := object.union(environment.facts, {
	"instances": {"document:d1": "acme", "document:d2": "beta"},
	"conditional_roles": {"eve": {"document": {
		"author": {"document:d1": {"limit": {"until": null, "values": {}}}},
		"reader": {"document:d2": {"limit": {"until": null, "values": {}}}},
	}}},
})

test_tenants_where_a_condition_holds[name] if {
	some name, case in {
		"all instances": {"input": {}, "tenants": {"acme", "beta"}},
		"an instance whose condition holds": {"input": {"instances": [{"type": "document", "key": "d2"}]}, "tenants": {"beta"}},
		"an instance whose condition fails": {"input": {"instances": [{"type": "document", "key": "d1"}]}, "tenants": set()},
		"an unknown instance": {"input": {"instances": [{"type": "document", "key": "d9"}]}, "tenants": set()},
		"a malformed instance": {"input": {"instances": ["document:d2", {"type": "document"}, 7]}, "tenants": set()},
		"no instances": {"input": {"instances": []}, "tenants": set()},
	}
	listed := listing.user_tenants with input as object.union({"user": {"key": "eve"}}, case.input)
		with data.regolith.facts as with_conditions
		with data.regolith.conditional as {"document": {"met": {"reader": {"limit"}}}}
	{tenant.key | some tenant in listed} == case.tenants
}

test_authorized_users[name] if {
	everyone := [user | some user, _ in environment.facts.users]
	some name, case in {
		"by a tenant role": {"resource": {"type": "document", "tenant": "beta"}, "users": {"ann", "bob"}},
		"by a role on the instance": {
			"resource": {"type": "document", "tenant": "acme", "key": "d2"},
			"users": {"ann", "eve"},
		},
		"in another tenant": {"resource": {"type": "document", "tenant": "beta", "key": "d2"}, "users": {"ann", "bob"}},
		"of an unknown type": {"resource": {"type": "none", "tenant": "acme"}, "users": set()},
	}
	listed := authorized({"users": everyone, "action": "read", "resource": case.resource})
	{user | some user in listed} == case.users
	count(listed) == count(case.users)
}

test_nobody_else_is_authorized if {
	authorized({"users": [7, null, "nobody"], "action": "read", "resource": {"type": "document", "tenant": "acme"}}) == []
	authorized({}) == []
}

# Listings with and without conditions, compared with the corresponding checks.
ways := [
	{"listing": asked, "check": {}},
	{"listing": {}, "check": {"conditions": false}},
]

# INVARIANT: list = check, for every instance.
test_listed_on_instances_exactly_when_checked[index] if {
	some index, way in ways
	every user, _ in environment.facts.users {
		listed := on_instances(object.union({"user": {"key": user}, "instances": all_instances}, way.listing))
		every entry in listed {
			every action, _ in environment.schema.actions[entry.resource.type] {
				is_listed := concat(":", [entry.resource.type, action]) in entry.permissions
				resource := object.union(entry.resource, {"tenant": entry.tenant.key})
				question := {"user": {"key": user}, "action": action, "resource": resource}
				is_allowed := check.allow with input as object.union(question, way.check)
					with data.regolith.schema as environment.schema
					with data.regolith.facts as environment.facts
				is_listed == is_allowed
			}
		}
	}
}

# INVARIANT: list = check, for every resource.
test_listed_exactly_when_checked[index] if {
	some index, way in ways
	every user, tenants in environment.facts.users {
		listed := permissions(object.union({"user": {"key": user}}, way.listing))
		every tenant, _ in tenants {
			every type, actions in environment.schema.actions {
				every action, _ in actions {
					entry := listed[concat("", ["__tenant:", tenant])]
					is_listed := concat(":", [type, action]) in entry.permissions
					question := {"user": {"key": user}, "action": action, "resource": {"type": type, "tenant": tenant}}
					is_allowed := check.allow with input as object.union(question, way.check)
						with data.regolith.schema as environment.schema
						with data.regolith.facts as environment.facts
					is_listed == is_allowed
				}
			}
		}
	}
}
