# METADATA
# title: Relationships
# description: |
#   Relationship-based access control. A user holds roles on resource instances, assigned there or derived from roles on
#   related instances, and a role grants actions on the instances of its type. Which roles are derived from which is
#   generated from the schema: `data.regolith.instances[type].holds[role]`.
package regolith.rebac

import data.regolith.expiry
import data.regolith.rbac

# METADATA
# title: Holdings
# description: |
#   What is assigned to the user on instances: resource type to role to instances, each with its expiry. Undefined when
#   there is nothing; then nothing is derived either.
holdings := data.regolith.facts.user_roles[user] if {
	user := input.user.key
	is_string(user)
}

# METADATA
# title: Instance
# description: |
#   The name of the instance that the check is about: `<type>:<key>`. Undefined unless the instance exists in the tenant
#   of the check.
instance := object if {
	object := name_of(input.resource)
	data.regolith.facts.instances[object] == input.resource.tenant
}

# METADATA
# title: Name
# description: The name that the check gives, whether there is such an instance or not.
name := name_of(input.resource)

# METADATA
# description: By this name the facts know an instance.
name_of(resource) := concat(":", [resource.type, resource.key])

# METADATA
# title: Granted
# description: |
#   A role that the user holds on the instance grants the action. For explanations; a check asks for the roles that grant
#   its action by their names, which costs less.
granted if {
	type := input.resource.type
	some role, _ in data.regolith.schema.resource_grants[type][input.action]
	data.regolith.instances[type].holds[role]
}

# METADATA
# title: Held roles
# description: The keys of all roles that the user holds on the instance. A check asks for less, which costs less.
held_roles contains role if {
	holdings
	instance
	type := input.resource.type
	some role, _ in data.regolith.schema.resource_roles[type]
	data.regolith.instances[type].holds[role]
}

# METADATA
# title: Held in vain
# description: |
#   The user holds a role on the instance that does not grant the action. Once none that does was found, this is whether
#   any is held: what was looked for is not looked for again.
held_in_vain if data.regolith.instances[input.resource.type].holds_another

# METADATA
# title: Applies
# description: A check of this resource is about an instance, and its type has roles that could be held there.
applies(resource) if {
	is_string(resource.key)
	count(data.regolith.schema.resource_roles[resource.type]) > 0
}

# METADATA
# title: Denial
# description: |
#   Why the roles on the instance do not grant the action; the first condition that fails names the code.
#   The last codes stand first, because they are the common ones and some conditions imply all others. Who has holdings
#   exists, which the grant has looked up already: so those who have none are a case of their own.
default denial := "no_permission"

denial := "no_graph_roles" if {
	holdings
	instance
	rbac.action_exists(input.resource.type, input.action)
	not held_in_vain
} else := "no_graph_roles" if {
	not holdings
	instance
	rbac.action_exists(input.resource.type, input.action)
	rbac.user_known
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
	expiry.live(instances[object])
}

# METADATA
# title: Related
# description: |
#   The subjects of a relation of any of several instances; undefined when there are none. One instance is the common
#   case, and its subjects are in a table already, with their expiries. Those of more are a set, in which each is once:
#   so however many ways lead to a subject, what is derived from it is looked for once.
related(objects, relation) := data.regolith.facts.relations[object][relation] if {
	count(objects) == 1
	some object, until in objects
	expiry.live(until)
} else := subjects if {
	count(objects) > 1
	subjects := {subject |
		some object, until in objects
		expiry.live(until)
		some subject, related_until in data.regolith.facts.relations[object][relation]
		expiry.live(related_until)
	}
	count(subjects) > 0
}

# METADATA
# title: All of
# description: The members of several sets.
all_of(sets) := {member |
	some members in sets
	some member in members
}

# METADATA
# title: Leading
# description: What closures of any of several instances hold under one name; undefined when there is nothing.
leading(objects, way) := data.regolith.facts.closures[object][way] if {
	count(objects) == 1
	some object, until in objects
	expiry.live(until)
} else := sources if {
	count(objects) > 1
	sources := all_leading(objects, way)
	count(sources) > 0
}

# METADATA
# title: All leading
# description: The same as a set, which may be empty.
all_leading(objects, way) := {source |
	some object, until in objects
	expiry.live(until)
	some source, leading_until in data.regolith.facts.closures[object][way]
	expiry.live(leading_until)
}

# METADATA
# title: Unseen
# description: |
#   Of what a step of a walk found, as kind of role to instances, what is in none of the earlier finds. Kinds of which
#   nothing is new are left out.
unseen(found, seen) := {kind: fresh |
	some kind, objects in found
	fresh := {object |
		some object in objects
		not _known(kind, object, seen)
	}
	count(fresh) > 0
}

_known(kind, object, seen) if {
	some finds in seen
	finds[kind][object]
}

# METADATA
# title: Together
# description: Two finds of a walk, each kind of role to instances, as one.
together(near, far) := object.union(near, {kind: objects |
	some kind, more in far
	objects := union({object.get(near, kind, set()), more})
})

# METADATA
# title: Meet
# description: |
#   Two tables or sets have a key in common that holds in both. The smaller one is gone through: a closure may hold thousands of instances, and a
#   user may hold a role on thousands, but seldom both.
meet(left, right) := among(left, right) if {
	count(left) <= count(right)
} else := among(right, left)

# METADATA
# description: One of the few keys is among the many. Looked up, a set gives the key and a table its expiry.
default among(_, _) := false

among(few, many) if {
	some key, until in few
	expiry.live(many[key])
	expiry.live(until)
}
