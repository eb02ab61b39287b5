# METADATA
# title: Candidates
# description: What listings may list, before filters and decisions. A decision point finds it by an index.
package permit.candidates

import data.permit.question
import data.regolith.listing

# METADATA
# description: The tenants of a user that exists, and all tenants for one that does not.
tenants contains tenant if {
	some found in listing.user_tenants with input as question.asked(input)
	tenant := found.key
}

tenants contains tenant if {
	not data.regolith.facts.users[question.user(input.user).key]
	some tenant, _ in data.regolith.facts.tenants
}

# METADATA
# description: The instances that pass the filters of a request.
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
# description: The request without filters that are empty, which let everything through.
filtered := object.remove(input, [name |
	some name in ["tenants", "resources", "resource_types"]
	_empty(name)
])

# METADATA
# description: Instances are asked for by name or type. Then those are listed too on which no role is held.
default asked_for := false

asked_for if not _empty("resources")

asked_for if not _empty("resource_types")

_passes(filter, _) if _empty(filter)

_passes(filter, names) if {
	some name in input[filter]
	names[name]
}

_empty(name) if object.get(input, name, null) in {null, []}
