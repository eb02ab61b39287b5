# METADATA
# title: Listing
# description: What a user may do, as a list. Every entry is decided by the rule that decides a single check.
package regolith.listing

import data.regolith.check

# METADATA
# title: User permissions
# description: |
#   Object identifier (`__tenant:<key>`) to {"tenant": {"key", "attributes"}, "permissions", "roles"},
#   for every tenant where the user holds a role. Arrays have no order.
#   Input: {"user": {"key"}, "tenants"?, "resources"?, "resource_types"?, "context"?};
#   a filter is an array of strings, and a missing or null filter lets everything through.
# entrypoint: true
user_permissions := {object_id: entry |
	is_string(input.user.key)
	some tenant, _ in data.regolith.facts.users[input.user.key]
	object_id := concat("", ["__tenant:", tenant])
	_selected(tenant, object_id)
	entry := {
		"tenant": {"key": tenant, "attributes": data.regolith.facts.tenants[tenant]},
		"permissions": _permissions(input.user, tenant, _context),
		"roles": [role | some role, _ in data.regolith.facts.tenant_roles[tenant][input.user.key]],
	}
}

_permissions(user, tenant, context) := [permission |
	some type, actions in data.regolith.schema.actions
	some action, _ in actions
	query := {"user": user, "action": action, "resource": {"type": type, "tenant": tenant}, "context": context}
	check.permitted with input as query
	permission := concat(":", [type, action])
]

default _context := {}

_context := input.context if is_object(input.context)

_selected(tenant, object_id) if {
	_passes("tenants", {tenant, object_id})
	_passes("resources", {tenant, object_id})
	_passes("resource_types", {"__tenant"})
}

_passes(filter, _) if object.get(input, filter, null) == null

_passes(filter, names) if {
	some name in input[filter]
	names[name]
}
