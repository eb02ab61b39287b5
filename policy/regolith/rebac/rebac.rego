# METADATA
# title: Relationships
# description: |
#   Relationship-based access control. A user holds roles on resource instances, assigned there or derived from roles on
#   related instances, and a role grants actions on instances of its type. The derivations are generated from the
#   schema: `data.regolith.instances[type].holds[role]`.
package regolith.rebac

import data.regolith.expiry
import data.regolith.rbac

# METADATA
# title: Holdings
# description: |
#   The user's role assignments on instances: a map from resource type to role to instances, each with its expiry.
#   Undefined without assignments. `input.user.holdings` replaces the stored assignments. Only a decision point sets it:
#   neither requests nor `permit.question` pass it through.
holdings := input.user.holdings if {
	is_object(input.user.holdings)
} else := data.regolith.facts.user_roles[user] if {
	user := input.user.key
	is_string(user)
}

# METADATA
# title: Holdings or none
# description: |
#   Same as `holdings`, but an empty map without assignments, for types with roles that a user can hold without an own
#   assignment. An undefined argument would skip every body of a role's function. Undefined without a user.
holdings_or_none := holdings if {
	holdings
} else := {} if {
	is_string(input.user.key)
}

# METADATA
# title: Checked instance
# description: |
#   Name of the checked instance: `<type>:<key>`. Undefined unless the instance exists in the check's tenant.
instance := object if {
	object := name_of(input.resource)
	data.regolith.facts.instances[object] == input.resource.tenant
}

# METADATA
# title: Instance name
# description: Name in the check, for an existing or missing instance.
name := name_of(input.resource)

# METADATA
# description: Instance name as used in the facts.
name_of(resource) := concat(":", [resource.type, resource.key])

# METADATA
# title: Granted by roles on the instance
# description: |
#   A role held by the user on the instance grants the action. For explanations; a check looks up the granting roles by
#   name, which is cheaper.
granted if {
	type := input.resource.type
	some role, _ in data.regolith.schema.resource_grants[type][input.action]
	data.regolith.instances[type].holds[role]
}

# METADATA
# title: Roles on the instance
# description: |
#   Keys of all roles that the user holds on the instance. A check tests only granting roles, which is cheaper.
held_roles contains role if {
	instance
	type := input.resource.type
	some role, _ in data.regolith.schema.resource_roles[type]
	data.regolith.instances[type].holds[role]
}

# METADATA
# title: Only roles without the action
# description: |
#   The user holds a role on the instance that does not grant the action. After a search for granting roles without
#   result, this tests only the remaining roles.
held_in_vain if data.regolith.instances[input.resource.type].holds_another

# METADATA
# title: Roles on instances apply
# description: The check names an instance, and roles exist on its resource type.
applies(resource) if {
	is_string(resource.key)
	count(data.regolith.schema.resource_roles[resource.type]) > 0
}

# METADATA
# title: Denial code
# description: |
#   Denial code for instance roles, chosen by the first failing condition.
#   The last codes are tested first, because they are common and some conditions imply all others. The first two cases
#   are cheaper than the general one: a user with stored holdings exists, and without roles of everyone and roles under
#   conditions, a user without holdings holds no role.
default denial := "no_permission"

denial := "no_graph_roles" if {
	holdings
	not input.user.holdings
	instance
	rbac.action_exists(input.resource.type, input.action)
	not held_in_vain
} else := "no_graph_roles" if {
	not holdings
	not data.regolith.schema.public_roles
	not data.regolith.facts.conditional_roles[input.user.key]
	instance
	rbac.action_exists(input.resource.type, input.action)
	rbac.user_known
} else := "no_graph_roles" if {
	not held_in_vain
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
# description: The instance exists in any tenant.
instance_known if data.regolith.facts.instances[name]

# METADATA
# title: Assigned on the instance
# description: |
#   The user, given as `holdings`, has any role assigned on the instance with this type and name. An assignment under a
#   condition counts whether its condition holds or not: otherwise a check without the context of the condition would
#   add access.
assigned(user, type, object) if {
	some instances in user[type]
	expiry.live(instances[object])
}

assigned(_, type, object) if {
	some instances in data.regolith.facts.conditional_roles[input.user.key][type]
	some grant in instances[object]
	expiry.live(grant.until)
}

# METADATA
# title: Instances with assignments under conditions
# description: |
#   Instances in a table of assignments under conditions that are also among `objects`, a table or a set. The smaller
#   side is iterated, as in `meet`. The conditions are not evaluated.
granted_among(grants, objects) := {object |
	some object, _ in grants
	expiry.live(objects[object])
} if {
	count(grants) <= count(objects)
} else := {object |
	some object, until in objects
	expiry.live(until)
	grants[object]
}

# METADATA
# title: Related subjects
# description: |
#   Subjects of a relation to any of several instances; undefined if there are none. For a single instance, the common
#   case, the result is the stored table with expiries. For several instances, it is a set, so roles from a subject with
#   several relationships are derived once.
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
# title: Union of sets
# description: Union of several sets.
all_of(sets) := {member |
	some members in sets
	some member in members
}

# METADATA
# title: Closure entries
# description: Closure entries of several instances under one name; undefined if there are none.
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
# title: Closure entries as a set
# description: Same as `leading`, as a possibly empty set.
all_leading(objects, way) := {source |
	some object, until in objects
	expiry.live(until)
	some source, leading_until in data.regolith.facts.closures[object][way]
	expiry.live(leading_until)
}

# METADATA
# title: New instances of a step
# description: |
#   Instances found by a walk step, as a map from role to instances, without instances from earlier steps. Roles without
#   new instances are omitted.
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
# title: Union of maps
# description: Union of two maps from role to instances.
together(near, far) := object.union(near, {kind: objects |
	some kind, more in far
	objects := union({object.get(near, kind, set()), more})
})

# METADATA
# title: Common unexpired keys
# description: |
#   Two tables or sets share a key that has not expired in either. The smaller side is iterated, because a closure or a
#   user's assignments may contain thousands of instances, but seldom both.
meet(left, right) := among(left, right) if {
	count(left) <= count(right)
} else := among(right, left)

# METADATA
# description: |
#   One of the few keys is among the many keys. A look-up in a set returns the key, a look-up in a table its expiry.
default among(_, _) := false

among(few, many) if {
	some key, until in few
	expiry.live(many[key])
	expiry.live(until)
}
