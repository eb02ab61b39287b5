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

# INVARIANT: list = check, over everything there is.
test_listed_exactly_when_checked if {
	every user, _ in environment.facts.users {
		listed := permissions({"user": {"key": user}})
		every tenant, _ in environment.facts.tenants {
			every type, actions in environment.schema.actions {
				every action, _ in actions {
					entry := object.get(listed, concat("", ["__tenant:", tenant]), {"permissions": []})
					is_listed := concat(":", [type, action]) in entry.permissions
					question := {"user": {"key": user}, "action": action, "resource": {"type": type, "tenant": tenant}}
					is_allowed := check.allow with input as question
						with data.regolith.schema as environment.schema
						with data.regolith.facts as environment.facts
					is_listed == is_allowed
				}
			}
		}
	}
}
