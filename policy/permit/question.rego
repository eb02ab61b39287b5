# METADATA
# title: Question
# description: |
#   Normalizes requests from decision point clients: users and resources may be strings, fields may be null, and the
#   tenant defaults to `default`. A decision point normalizes requests in the same way.
package permit.question

# METADATA
# description: |
#   Returns the check in a request. Omits malformed fields, so the check is denied. Undefined for a request with
#   contextual facts, which only a decision point can evaluate, so the check is denied.
asked(request) := {
	"user": user(object.get(request, "user", {})),
	"action": object.get(request, "action", null),
	"resource": resource(object.get(request, "resource", {})),
	"context": context(request),
} if {
	plain(request)
}

# METADATA
# description: True if the request has no contextual facts.
plain(request) if object.get(request, "contextual_facts", null) == null

# METADATA
# description: Returns the user in a request, with the attributes in the request.
user(given) := {"key": given} if is_string(given)

user(given) := {"key": object.get(given, "key", null), "attributes": attributes} if {
	is_object(given)
	attributes := object.union(_named(given), _object(given, "attributes"))
}

_named(given) := {name: value |
	some name, aliases in {
		"email": ["email"],
		"first_name": ["first_name", "firstName"],
		"last_name": ["last_name", "lastName"],
	}
	texts := [text | some alias in aliases; text := given[alias]; is_string(text)]
	value := texts[0]
}

# METADATA
# description: Returns the resource in a request. Its tenant defaults to `default`.
resource(given) := {"type": given, "tenant": "default"} if {
	is_string(given)
	not contains(given, ":")
}

resource(given) := object.union({"type": substring(given, 0, colon), "tenant": "default"}, _key(key)) if {
	is_string(given)
	colon := indexof(given, ":")
	colon >= 0
	key := substring(given, colon + 1, -1)
}

resource(given) := object.union(
	{
		"type": object.get(given, "type", null),
		"tenant": _tenant(object.get(given, "tenant", null)),
		"attributes": _object(given, "attributes"),
	},
	_key(object.get(given, "key", null)),
) if {
	is_object(given)
}

_key(key) := {} if key in {null, ""}

_key(key) := {"key": key} if not key in {null, ""}

_tenant(tenant) := "default" if tenant in {null, ""}

_tenant(tenant) := tenant if not tenant in {null, ""}

# METADATA
# description: Returns the context in a request, without `pdp_type`, which only a decision point may set.
context(request) := object.remove(_object(request, "context"), ["pdp_type"])

default _object(_, _) := {}

_object(given, name) := given[name] if is_object(given[name])

# METADATA
# description: Returns the checks in a bulk request.
checks(request) := request if is_array(request)

checks(request) := request.checks if is_object(request)
