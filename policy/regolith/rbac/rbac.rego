# METADATA
# title: Roles
# description: Role-based access control. A user holds roles in tenants, and a role grants actions on resource types.
package regolith.rbac

import data.regolith.expiry

# METADATA
# title: Roles
# description: |
#   The roles that the user was given in the tenant of the resource, each with its expiry, expired ones among them.
#   A grant and its denial both ask, and they are looked up once, also where there are none.
default roles := {}

roles := data.regolith.facts.tenant_roles[tenant][user] if {
	user := input.user.key
	tenant := input.resource.tenant
	is_string(user)
	is_string(tenant)
}

# METADATA
# description: The user holds a role in the tenant of the resource, whatever it grants.
held if {
	some until in roles
	expiry.live(until)
}

# METADATA
# title: Granted
# description: A role that the user holds in the tenant of the resource grants the action. For explanations.
granted if granted_by(data.regolith.schema.grants[input.resource.type][input.action])

# METADATA
# title: Granted by
# description: |
#   The user holds one of the roles that grant the action, given as a table, in the tenant of the resource. A check asks
#   so for the roles of its action by their path. The roles of one user in one tenant are few, so they are iterated.
granted_by(grants) if {
	some role, until in roles
	grants[role] == null
	expiry.live(until)
}

# METADATA
# title: Allowing roles
# description: The keys of the roles that grant the action. For explanations; a check asks `granted`, which costs less.
allowing_roles contains role if {
	some role, until in roles
	data.regolith.schema.grants[input.resource.type][input.action][role] == null
	expiry.live(until)
}

# METADATA
# title: Denial
# description: |
#   Why the roles do not grant the action: the first condition that fails names the code.
#   The last code stands first, because it is the common one and two conditions imply all others.
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
# title: Unknown
# description: The code of the first thing named in the check that does not exist; undefined when all of them do.
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
# description: The action exists on the resource type. A check asks this once and without `not`, which needs the rule.
action_exists(type, action) if {
	is_string(type)
	is_string(action)
	data.regolith.schema.actions[type][action] == null
}

# METADATA
# description: The check names a tenant, well formed or not.
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
# description: The user holds a role in the tenant of the resource. A check without a tenant has none.
role_in_tenant if {
	user_known
	tenant_known
	expiry.live(data.regolith.facts.users[input.user.key][input.resource.tenant])
}

# METADATA
# description: The user holds a role in some tenant.
role_in_any_tenant if {
	some until in data.regolith.facts.users[input.user.key]
	expiry.live(until)
}
