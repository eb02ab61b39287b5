# METADATA
# title: Environment
# description: |
#   A small environment for the tests. Resource type `document` has its generated package beside;
#   `folder` has no actions. Ann is a viewer in acme and an editor in beta, Bob is a viewer in beta, Eve has no roles.
package regolith.environment_test

schema := {
	"actions": {"document": {"read": null, "write": null}, "folder": {}},
	"grants": {"document": {
		"read": {"viewer": null, "editor": null},
		"write": {"editor": null},
	}},
}

facts := {
	"users": {"ann": {"acme": null, "beta": null}, "bob": {"beta": null}, "eve": {}},
	"tenants": {"acme": {"plan": "pro"}, "beta": {}},
	"tenant_roles": {
		"acme": {"ann": {"viewer": null}},
		"beta": {"ann": {"editor": null}, "bob": {"viewer": null}},
	},
}
