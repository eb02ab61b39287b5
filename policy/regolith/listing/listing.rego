# METADATA
# title: Listing
# description: |
#   Lists user permissions and authorized users. Every entry is decided by the same rules as a single check. If finding
#   the candidates is expensive, the caller passes them in the input. Conditions are evaluated for every candidate,
#   which is expensive, so they are evaluated only if the context requests it.
package regolith.listing

import data.regolith.abac
import data.regolith.check
import data.regolith.expiry
import data.regolith.rebac

# METADATA
# title: User permissions
# description: |
#   Maps an object identifier (`__tenant:<key>`) to {"tenant": {"key", "attributes"}, "permissions", "roles"}, for every
#   tenant where the user holds a role. Arrays are unordered.
#   Input: {"user": {"key"}, "tenants"?, "resources"?, "resource_types"?, "context"?}; a filter is an array of strings,
#   and a missing or null filter matches everything.
# entrypoint: true
user_permissions := {object_id: entry |
	is_string(input.user.key)
	some tenant, until in data.regolith.facts.users[input.user.key]
	expiry.live(until)
	object_id := concat("", ["__tenant:", tenant])
	_selected(tenant, object_id)
	entry := {
		"tenant": {"key": tenant, "attributes": data.regolith.facts.tenants[tenant]},
		"permissions": _permissions({"tenant": tenant}, object.keys(data.regolith.schema.actions)),
		"roles": [role |
			some role, role_until in data.regolith.facts.tenant_roles[tenant][input.user.key]
			expiry.live(role_until)
		],
	}
}

# METADATA
# title: Instance permissions
# description: |
#   User permissions on the given `instances`. Includes an instance if the user holds an assigned or derived role on it,
#   if conditions were requested and grant a permission, or with `by_permission` if anything grants a permission.
#   Result: an array of {"tenant": {"key", "attributes"}, "resource": {"type", "key", "attributes"}, "permissions",
#   "roles"}.
#   Input: {"user": {"key"}, "instances": [{"type", "key"}], "by_permission"?, "context"?}.
# entrypoint: true
instance_permissions := [entry |
	some instance in input.instances
	name := concat(":", [instance.type, instance.key])
	tenant := data.regolith.facts.instances[name]
	resource := {"type": instance.type, "key": instance.key, "tenant": tenant}
	roles := [role | some role in _held_roles(input.user, resource)]
	_concerned(roles, resource)
	entry := {
		"tenant": {"key": tenant, "attributes": data.regolith.facts.tenants[tenant]},
		"resource": {"type": instance.type, "key": instance.key, "attributes": _attributes_of(name)},
		"permissions": _permissions(resource, {instance.type}),
		"roles": roles,
	}
]

# METADATA
# title: User tenants
# description: |
#   Tenants where the user holds a role, in the tenant itself or on one of its instances: an array of {"key",
#   "attributes"}. Ignores derived roles, because they are in the same tenant as their source. With `instances`, only
#   conditional roles on these instances count.
#   Input: {"user": {"key"}, "instances"?: [{"type", "key"}], "context"?}.
# entrypoint: true
user_tenants := [{"key": tenant, "attributes": attributes} |
	some tenant in _tenants
	attributes := data.regolith.facts.tenants[tenant]
]

_tenants contains tenant if {
	not input.instances
	is_string(input.user.key)
	some tenant, until in data.regolith.facts.users[input.user.key]
	expiry.live(until)
}

_tenants contains data.regolith.facts.instances[instance] if {
	not input.instances
	is_string(input.user.key)
	some roles in data.regolith.facts.user_roles[input.user.key]
	some instances in roles
	some instance, until in instances
	expiry.live(until)
}

# A conditional role counts only if its condition holds.
_tenants contains tenant if {
	not input.instances
	is_string(input.user.key)
	some type, roles in data.regolith.facts.conditional_roles[input.user.key]
	some role, instances in roles
	some instance, _ in instances
	tenant := data.regolith.facts.instances[instance]
	key := substring(instance, count(type) + 1, -1)
	_meets_condition(role, {"type": type, "key": key, "tenant": tenant})
}

_tenants contains tenant if {
	is_string(input.user.key)
	some instance in input.instances
	name := rebac.name_of(instance)
	tenant := data.regolith.facts.instances[name]
	some role, instances in data.regolith.facts.conditional_roles[input.user.key][instance.type]
	instances[name]
	_meets_condition(role, object.union(instance, {"tenant": tenant}))
}

_meets_condition(role, resource) if {
	conditions := data.regolith.conditional[resource.type].met[role] with input as _asked(input.user, resource)
	count(conditions) > 0
}

# METADATA
# title: Authorized users
# description: |
#   Keys of the given `users` who may perform the action on the resource.
#   Input: {"users": [key], "action", "resource": {"type", "tenant", "key"?}, "context"?}.
# entrypoint: true
authorized_users := [key |
	some key in input.users
	question := {
		"user": {"key": key},
		"action": input.action,
		"resource": input.resource,
		"context": _context,
		"conditions": _for_users,
		"time": expiry.now,
	}
	check.permitted with input as question
]

default _attributes_of(_) := {}

_attributes_of(name) := data.regolith.facts.instance_attributes[name]

_held_roles(user, resource) := roles if {
	roles := rebac.held_roles with input as _asked(user, resource)
}

_asked(user, resource) := {"user": user, "resource": resource, "context": _context, "time": expiry.now}

_concerned(roles, _) if count(roles) > 0

_concerned([], resource) if {
	some action, _ in data.regolith.schema.set_rules[resource.type]
	abac.granted with input as _question(action, resource)
}

_concerned([], resource) if {
	input.by_permission == true
	count(_permissions(resource, {resource.type})) > 0
}

# Permissions on a resource of these types.
_permissions(resource, types) := [permission |
	some type in types
	some action, _ in data.regolith.schema.actions[type]
	typed := object.union(resource, {"type": type})
	check.permitted with input as _question(action, typed)
	permission := concat(":", [type, action])
]

_question(action, resource) := {
	"user": input.user,
	"action": action,
	"resource": resource,
	"context": _context,
	"conditions": _for_permissions,
	"time": expiry.now,
}

# True if the listing requests conditions; checks use them unless disabled.
default _for_permissions := false

_for_permissions if _context.enable_abac_user_permissions == true

default _for_users := false

_for_users if _context.enable_abac_authorized_users == true

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
