# METADATA
# title: Environment
# description: |
#   A small environment for the tests. Resource type `document` comes with its generated package; `folder` has no
#   actions. Ann is a viewer in acme and an editor in beta. Bob is a viewer in beta. Eve has no tenant roles. She is a
#   keeper of folder f1 in acme, whose keepers can read document d1 unless they have a role on it, and the author of
#   document d2. Only condition sets allow signing: viewers can sign drafts, and seniors (level 5 or higher, such as
#   Eve) can sign all documents. Document d1 is a draft.
package regolith.environment_test

schema := {
	"actions": {"document": {"read": null, "sign": null, "write": null}, "folder": {}},
	"grants": {"document": {
		"read": {"viewer": null, "editor": null},
		"write": {"editor": null},
	}},
	"resource_grants": {"document": {
		"read": {"author": null, "reader": null},
		"write": {"author": null},
	}},
	"other_roles": {"document": {"sign": {"author": null, "reader": null}, "write": {"reader": null}}},
	"resource_roles": {
		"document": {
			"author": [],
			"reader": [{
				"relation": "parent",
				"resource": "folder",
				"role": "keeper",
				"no_direct_roles_on_object": true,
			}],
		},
		"folder": {"keeper": []},
	},
	"set_rules": {"document": {"sign": {
		"seniors": {"__autogen_document": null},
		"__autogen_viewer": {"drafts": null},
	}}},
	"user_sets": {"seniors": null, "__autogen_viewer": "viewer"},
	"resource_sets": {"document": {"drafts": null, "__autogen_document": "document"}},
}

facts := {
	"users": {"ann": {"acme": null, "beta": null}, "bob": {"beta": null}, "eve": {}},
	"tenants": {"acme": {"plan": "pro"}, "beta": {}},
	"tenant_roles": {
		"acme": {"ann": {"viewer": null}},
		"beta": {"ann": {"editor": null}, "bob": {"viewer": null}},
	},
	"instances": {"document:d1": "acme", "document:d2": "acme", "folder:f1": "acme"},
	"user_roles": {"eve": {
		"document": {"author": {"document:d2": null}},
		"folder": {"keeper": {"folder:f1": null}},
	}},
	"relations": {
		"document:d1": {"parent": {"folder:f1": null}},
		"document:d2": {"parent": {"folder:f1": null}},
	},
	"closures": {},
	"user_attributes": {"ann": {"level": 3, "email": "ann@example.com"}, "eve": {"level": 7, "address": {"city": "Ur"}}},
	"instance_attributes": {"document:d1": {"status": "draft", "tags": {"a": 1}}},
}
