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
#   The user's role assignments on instances: maps resource types to roles to instances, each with its expiry. Undefined
#   without assignments. `input.user.holdings` replaces the stored assignments. Only a decision point can set it;
#   `permit.question` drops it from requests.
holdings := input.user.holdings if {
	is_object(input.user.holdings)
} else := data.regolith.facts.user_roles[user] if {
	user := input.user.key
	is_string(user)
}

# METADATA
# title: Holdings or none
# description: |
#   Same as `holdings`, but empty if there are no assignments. For types with roles that a user can hold without an
#   assignment, because an undefined argument would skip every body of a role's function. Undefined without a user.
holdings_or_none := holdings if {
	holdings
} else := {} if {
	is_string(input.user.key)
}

# METADATA
# title: Checked instance
# description: |
#   Name of the instance in the check: `<type>:<key>`. Undefined if it does not exist in the check's tenant.
instance := object if {
	object := name_of(input.resource)
	data.regolith.facts.instances[object] == input.resource.tenant
}

# METADATA
# title: Instance name
# description: Same as `instance`, but also for a missing instance.
name := name_of(input.resource)

# METADATA
# description: Instance name as used in the facts.
name_of(resource) := concat(":", [resource.type, resource.key])

# METADATA
# title: Granted by roles on the instance
# description: |
#   True if a role that the user holds on the instance grants the action. Used by explanations. A check looks up the
#   granting roles by name, which is cheaper.
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
#   True if the user holds a role on the instance that does not grant the action. Tests only these roles, because a
#   check evaluates this rule only if the user holds no role that grants the action.
held_in_vain if data.regolith.instances[input.resource.type].holds_another

# METADATA
# title: Roles on instances apply
# description: True if the check contains an instance whose type has roles.
applies(resource) if {
	is_string(resource.key)
	count(data.regolith.schema.resource_roles[resource.type]) > 0
}

# METADATA
# title: Denial code
# description: |
#   Denial code for instance roles, from the first failing condition. The last codes are tested first, because they are
#   common and some of their conditions imply all others. The first two cases avoid expensive tests: a user with stored
#   holdings exists, and a user without holdings has no role if there are no public or conditional roles.
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
# description: True if the instance exists in any tenant.
instance_known if data.regolith.facts.instances[name]

# METADATA
# title: Assigned on the instance
# description: |
#   True if the user with these `holdings` has any role assigned on the instance with this type and name. A conditional
#   assignment counts even if its condition fails: otherwise leaving out the context of the condition would add access.
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
# title: Instances with conditional facts
# description: |
#   Returns the instances in a table of conditional facts that are also in `objects`, a table or a set. Iterates
#   the smaller side, as in `meet`. Does not evaluate the conditions.
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
#   Returns the subjects of a relation to any of these instances; undefined if there are none. For a single instance,
#   the common case, returns the stored table with expiries. For several instances, returns a set, so that roles from a
#   subject with several relationships are derived once.
related(objects, relation) := data.regolith.facts.relations[object][relation] if {
	count(objects) == 1
	some object, until in objects
	expiry.live(until)
} else := subjects if {
	count(objects) > 1
	subjects := all_related(objects, relation)
	count(subjects) > 0
}

# METADATA
# title: Related subjects as a set
# description: Same as `related`, as a possibly empty set.
all_related(objects, relation) := {subject |
	some object, until in objects
	expiry.live(until)
	some subject, related_until in data.regolith.facts.relations[object][relation]
	expiry.live(related_until)
}

# METADATA
# title: Related and other subjects
# description: Same as `related`, plus the subjects in a set. Copies the stored table only if the set is not empty.
related_and(objects, relation, others) := related(objects, relation) if {
	count(others) == 0
} else := all_related(objects, relation) | others if {
	count(others) > 0
}

# METADATA
# title: Union of sets
# description: Returns the union of several sets.
all_of(sets) := {member |
	some members in sets
	some member in members
}

# METADATA
# title: Closure entries
# description: Returns the closure entries of several instances under one name; undefined if there are none.
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
#   Returns the instances that a walk step found for the first time, as a map from role to instances. Omits roles
#   without new instances.
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
# description: Returns the union of two maps from role to instances.
together(near, far) := object.union(near, {kind: objects |
	some kind, more in far
	objects := union({object.get(near, kind, set()), more})
})

# METADATA
# title: Common unexpired keys
# description: |
#   True if two tables or sets share a key that has not expired in either. Iterates the smaller side: a closure or a
#   user's assignments may contain thousands of instances, but rarely both.
meet(left, right) := among(left, right) if {
	count(left) <= count(right)
} else := among(right, left)

# METADATA
# description: |
#   True if any key in `few` is also in `many`. A lookup in a set returns the key, and a lookup in a table its expiry.
default among(_, _) := false

among(few, many) if {
	some key, until in few
	expiry.live(many[key])
	expiry.live(until)
}
