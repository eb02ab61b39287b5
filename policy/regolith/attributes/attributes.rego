# METADATA
# title: Attributes
# description: |
#   What conditions can know of a check. Stored attributes are each replaced by the one of the same name that the check
#   sends. What stands in a rule of its own here, such as `user_roles`, comes from what is stored and asked alone:
#   nothing that a check sends can replace it.
package regolith.attributes

import data.regolith.expiry
import data.regolith.rbac
import data.regolith.rebac

# METADATA
# description: The attributes of the user, email and names among them. A user who is not stored has those sent.
default user := {}

user := object.union(object.remove(_stored_user, input.user.attributes), input.user.attributes) if {
	is_object(input.user.attributes)
} else := _stored_user

default _stored_user := {}

_stored_user := data.regolith.facts.user_attributes[input.user.key] if is_string(input.user.key)

# METADATA
# description: The user's key; undefined when the check names none.
user_key := input.user.key if is_string(input.user.key)

# METADATA
# description: |
#   The keys of the roles that the user holds in the tenant of the check, sorted. It is an array, and yet of no type that
#   the compiler knows, so that a set which takes it for something else compiles and does not match, as other mistyped
#   sets do.
default user_roles := []

user_roles := _untyped(sort(_live_keys(rbac.roles)))

# METADATA
# description: The keys of the tenants where the user holds a role, sorted; of no type, as `user_roles`.
default user_tenants := []

user_tenants := _untyped(sort(_live_keys(data.regolith.facts.users[input.user.key]))) if is_string(input.user.key)

_untyped(value) := value

_live_keys(facts) := [key |
	some key, until in facts
	expiry.live(until)
]

# METADATA
# description: |
#   The attributes of the resource. One that is no instance, or is stored in another tenant than the check's, has those
#   sent.
default resource := {}

resource := object.union(object.remove(_stored_resource, input.resource.attributes), input.resource.attributes) if {
	is_object(input.resource.attributes)
} else := _stored_resource

default _stored_resource := {}

_stored_resource := data.regolith.facts.instance_attributes[rebac.instance]

# METADATA
# description: The instance's key; undefined when the check names none.
resource_key := input.resource.key if is_string(input.resource.key)

# METADATA
# description: The resource type.
resource_type := input.resource.type if is_string(input.resource.type)

# METADATA
# description: The tenant of the check, as `tenant_key`.
resource_tenant := tenant_key

# METADATA
# description: The attributes of the tenant of the check, for users who hold a role in it.
default tenant := {}

tenant := data.regolith.facts.tenants[input.resource.tenant] if rbac.role_in_tenant

# METADATA
# description: The key of the tenant of the check; undefined when it names none that exists.
tenant_key := input.resource.tenant if rbac.tenant_known

# METADATA
# description: What the check says about its circumstances.
default context := {}

context := input.context if is_object(input.context)
