# METADATA
# title: Candidates
# description: Tenants and instances that a listing has to check. A decision point finds them through an index instead.
package permit.candidates

import data.permit.question
import data.regolith.listing
import data.regolith.rebac

# METADATA
# description: |
#   All tenants for an unknown user; otherwise the user's tenants, and the instance's tenant if roles can be assigned to
#   everyone.
tenants contains tenant if {
	some found in listing.user_tenants with input as question.asked(input)
	tenant := found.key
}

tenants contains data.regolith.facts.instances[name] if {
	data.regolith.schema.public_roles
	name := rebac.name_of(question.asked(input).resource)
}

tenants contains tenant if {
	not data.regolith.facts.users[question.user(input.user).key]
	some tenant, _ in data.regolith.facts.tenants
}

# METADATA
# description: Instances that match the request's filters.
instances := [{"type": type, "key": key} |
	some name, tenant in data.regolith.facts.instances
	colon := indexof(name, ":")
	type := substring(name, 0, colon)
	key := substring(name, colon + 1, -1)
	_passes("tenants", {tenant, concat("", ["__tenant:", tenant])})
	_passes("resources", {name, key})
	_passes("resource_types", {type})
]

# METADATA
# description: The request's filters, without its other fields. An empty filter matches everything.
filtered := {name: input[name] |
	some name in ["tenants", "resources", "resource_types"]
	not _empty(name)
}

# METADATA
# description: |
#   True if the request selects instances by name or type. The listing then includes instances on which the user has no
#   role.
default asked_for := false

asked_for if not _empty("resources")

asked_for if not _empty("resource_types")

_passes(filter, _) if _empty(filter)

_passes(filter, names) if {
	some name in input[filter]
	names[name]
}

_empty(name) if object.get(input, name, null) in {null, []}
