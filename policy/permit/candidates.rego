# METADATA
# title: Candidates
# description: Candidates for listings, before filters and decisions. A decision point finds them through an index.
package permit.candidates

import data.permit.question
import data.regolith.listing
import data.regolith.rebac

# METADATA
# description: |
#   Tenants of an existing user, and the tenant of the instance if everyone may hold roles; all tenants for an unknown user.
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
# description: Instances that match the filters of a request.
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
# description: The filters of the request. An empty filter matches everything. Nothing else of the request is passed on.
filtered := {name: input[name] |
	some name in ["tenants", "resources", "resource_types"]
	not _empty(name)
}

# METADATA
# description: The request selects instances by name or type, so the listing includes instances without a role.
default asked_for := false

asked_for if not _empty("resources")

asked_for if not _empty("resource_types")

_passes(filter, _) if _empty(filter)

_passes(filter, names) if {
	some name in input[filter]
	names[name]
}

_empty(name) if object.get(input, name, null) in {null, []}
