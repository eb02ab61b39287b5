# METADATA
# title: Relationships
# description: |
#   Relationship-based access control. A user holds roles on resource instances, assigned there or derived from roles on
#   related instances, and a role grants actions on the instances of its type. Which roles are derived from which is
#   generated from the schema: `data.regolith.instances[type].holds[role]`.
package regolith.rebac

import data.regolith.rbac

# METADATA
# title: Holdings
# description: |
#   What is assigned to the user on instances: resource type to role to instances. Undefined when there is nothing; then
#   nothing is derived either.
holdings := data.regolith.facts.user_roles[input.user.key] if is_string(input.user.key)

# METADATA
# title: Instance
# description: |
#   The name of the instance that the check is about: `<type>:<key>`. Undefined unless the instance exists in the tenant
#   of the check.
instance := name if {
	data.regolith.facts.instances[name] == input.resource.tenant
}

# METADATA
# title: Name
# description: The name that the check gives, whether there is such an instance or not.
name := concat(":", [input.resource.type, input.resource.key])

# METADATA
# title: Granted
# description: A role that the user holds on the instance grants the action. The roles that grant an action are few.
granted if {
	holdings
	instance
	some role, _ in data.regolith.schema.resource_grants[input.resource.type][input.action]
	data.regolith.instances[input.resource.type].holds[role]
}

# METADATA
# title: Held roles
# description: The keys of all roles that the user holds on the instance. A check asks `granted`, which costs less.
held_roles contains role if {
	holdings
	instance
	some role, _ in data.regolith.schema.resource_roles[input.resource.type]
	data.regolith.instances[input.resource.type].holds[role]
}

# METADATA
# title: Applies
# description: The check is about an instance, and its type has roles that could be held there.
applies if {
	name
	count(data.regolith.schema.resource_roles[input.resource.type]) > 0
}

# METADATA
# title: Denial
# description: |
#   Why the roles on the instance do not grant the action; the first condition that fails names the code.
#   The last codes stand first, because they are the common ones and some conditions imply all others.
default denial := "no_permission"

denial := "no_graph_roles" if {
	instance
	rbac.action_known
	rbac.user_known
	count(held_roles) == 0
} else := rbac.unknown if {
	rbac.unknown
} else := "no_such_resource_instance" if {
	not instance_known
} else := "tenant_mismatch" if {
	not instance
}

# METADATA
# description: The instance exists, in whatever tenant.
instance_known if data.regolith.facts.instances[name]

# METADATA
# title: Assigned
# description: The user, given as `holdings`, is assigned any role on the instance of that type and name.
assigned(user, type, object) if {
	some instances in user[type]
	instances[object] == null
}

# METADATA
# title: Meet
# description: |
#   Two tables have a key in common. The smaller one is gone through: a closure may hold thousands of instances, and a
#   user may hold a role on thousands, but seldom both.
meet(left, right) if {
	count(left) <= count(right)
	some key, _ in left
	right[key] == null
}

meet(left, right) if {
	count(left) > count(right)
	some key, _ in right
	left[key] == null
}
