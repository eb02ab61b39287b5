# METADATA
# title: Attributes
# description: |
#   Attributes available to conditions. An attribute in the check replaces the stored attribute with the same name.
#   Built-in attributes with a separate rule, such as `user_roles`, cannot be overridden.
package regolith.attributes

import data.regolith.expiry
import data.regolith.rbac
import data.regolith.rebac

# METADATA
# description: |
#   User attributes, including email and names. A user who is not stored has only the attributes in the check.
#   The last alternative repeats `_stored_user`, because a further cached rule costs more than the lookup.
default user := {}

user := object.union(object.remove(_stored_user, input.user.attributes), input.user.attributes) if {
	is_object(input.user.attributes)
} else := data.regolith.facts.user_attributes[input.user.key] if {
	is_string(input.user.key)
}

default _stored_user := {}

_stored_user := data.regolith.facts.user_attributes[input.user.key] if is_string(input.user.key)

# METADATA
# description: User key; undefined if the check has none.
user_key := input.user.key if is_string(input.user.key)

# METADATA
# description: |
#   Keys of the roles that the user holds in the check's tenant, sorted. The compiler does not know that this is an
#   array, so a set that uses it as another type compiles. Like any mistyped set, it does not match.
default user_roles := []

user_roles := _untyped(sort(_live_keys(rbac.roles)))

# METADATA
# description: |
#   Keys of the tenants where the user holds a role, sorted. As with `user_roles`, the compiler does not know the type.
default user_tenants := []

user_tenants := _untyped(sort(_live_keys(data.regolith.facts.users[input.user.key]))) if is_string(input.user.key)

_untyped(value) := value

_live_keys(facts) := [key |
	some key, until in facts
	expiry.live(until)
]

# METADATA
# description: |
#   Resource attributes. A resource that is not stored in the check's tenant has only the attributes in the check.
default resource := {}

resource := object.union(object.remove(_stored_resource, input.resource.attributes), input.resource.attributes) if {
	is_object(input.resource.attributes)
} else := data.regolith.facts.instance_attributes[rebac.instance]

default _stored_resource := {}

_stored_resource := data.regolith.facts.instance_attributes[rebac.instance]

# METADATA
# description: Instance key; undefined if the check has none.
resource_key := input.resource.key if is_string(input.resource.key)

# METADATA
# description: Resource type.
resource_type := input.resource.type if is_string(input.resource.type)

# METADATA
# description: Tenant key, same as `tenant_key`.
resource_tenant := tenant_key

# METADATA
# description: Attributes of the check's tenant, for users with a role in it.
default tenant := {}

tenant := data.regolith.facts.tenants[input.resource.tenant] if rbac.role_in_tenant

# METADATA
# description: Key of the check's tenant; undefined unless the tenant exists.
tenant_key := input.resource.tenant if rbac.tenant_known

# METADATA
# description: |
#   Returns the stored attributes of an instance in the check's tenant, for conditions on attributes that contain
#   instance keys. Empty if there is no such instance.
default related(_, _) := {}

related(type, key) := data.regolith.facts.instance_attributes[name] if {
	is_string(key)
	name := concat(":", [type, key])
	data.regolith.facts.instances[name] == input.resource.tenant
}
