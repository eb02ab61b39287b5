# METADATA
# title: Roles
# description: Role-based access control. A user holds roles in tenants, and a role grants actions on resource types.
package regolith.rbac

import data.regolith.expiry

# METADATA
# title: Roles in the tenant
# description: |
#   Roles assigned to the user in the resource's tenant, including expired roles, each with its expiry. The result is
#   cached, even if empty, because grants and denials both read it.
default roles := {}

roles := data.regolith.facts.tenant_roles[tenant][user] if {
	user := input.user.key
	tenant := input.resource.tenant
	is_string(user)
	is_string(tenant)
}

# METADATA
# description: True if the user holds any role in the resource's tenant.
held if {
	some until in roles
	expiry.live(until)
}

# METADATA
# title: Granted by roles in the tenant
# description: True if a role that the user holds in the resource's tenant grants the action. Used by explanations.
granted if granted_by(data.regolith.schema.grants[input.resource.type][input.action])

# METADATA
# title: Granted by
# description: |
#   True if the user holds one of these roles in the resource's tenant. A check passes a table with the roles that grant
#   its action. Iterates the user's roles, because a user has few roles in one tenant.
granted_by(grants) if {
	some role, until in roles
	grants[role] == null
	expiry.live(until)
}

# METADATA
# title: Allowing roles
# description: Keys of the roles that grant the action. Used by explanations; a check uses the cheaper `granted`.
allowing_roles contains role if {
	some role, until in roles
	data.regolith.schema.grants[input.resource.type][input.action][role] == null
	expiry.live(until)
}

# METADATA
# title: Denial code
# description: |
#   Denial code for tenant roles, from the first failing condition. The last code is tested first, because it is common
#   and its two conditions imply all others.
default denial := "no_permission"

denial := "no_permission" if {
	held
	action_exists(input.resource.type, input.action)
} else := unknown if {
	unknown
} else := "no_user_roles" if {
	not role_in_any_tenant
} else := "no_role_in_tenant" if {
	not role_in_tenant
}

# METADATA
# title: Missing object
# description: Code for the first missing object in the check; undefined if all objects exist.
unknown := "no_such_resource" if {
	not resource_known
} else := "no_such_action" if {
	not action_known
} else := "no_such_tenant" if {
	tenant_given
	not tenant_known
} else := "user_not_synced" if {
	not user_known
}

# METADATA
# description: The resource type exists in the schema.
resource_known if {
	is_string(input.resource.type)
	data.regolith.schema.actions[input.resource.type]
}

# METADATA
# description: The action of the check exists on its resource type.
action_known if action_exists(input.resource.type, input.action)

# METADATA
# description: |
#   True if the action exists on the resource type. For use once per check. Under `not`, use the rule `action_known`.
action_exists(type, action) if {
	is_string(type)
	is_string(action)
	data.regolith.schema.actions[type][action] == null
}

# METADATA
# description: True if the check contains a tenant, even a malformed one.
tenant_given if input.resource.tenant != null

# METADATA
# description: The tenant exists.
tenant_known if {
	is_string(input.resource.tenant)
	data.regolith.facts.tenants[input.resource.tenant]
}

# METADATA
# description: The user exists.
user_known if {
	is_string(input.user.key)
	data.regolith.facts.users[input.user.key]
}

# METADATA
# description: True if the user holds a role in the resource's tenant. Undefined for a check without a tenant.
role_in_tenant if {
	user_known
	tenant_known
	expiry.live(data.regolith.facts.users[input.user.key][input.resource.tenant])
}

# METADATA
# description: The user holds a role in at least one tenant.
role_in_any_tenant if {
	some until in data.regolith.facts.users[input.user.key]
	expiry.live(until)
}
