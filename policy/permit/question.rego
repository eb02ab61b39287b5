# METADATA
# title: Question
# description: |
#   Normalized requests from decision point clients: users and resources may be strings, members may be null, and a
#   missing tenant is `default`. A decision point does the same before it evaluates the policy.
package permit.question

# METADATA
# description: |
#   The check in a request. Malformed members are omitted, so the check is denied. Undefined for a request with
#   contextual facts, so it is denied too: only a decision point evaluates them.
asked(request) := {
	"user": user(object.get(request, "user", {})),
	"action": object.get(request, "action", null),
	"resource": resource(object.get(request, "resource", {})),
	"context": context(request),
} if {
	plain(request)
}

# METADATA
# description: The request carries no contextual facts.
plain(request) if object.get(request, "contextual_facts", null) == null

# METADATA
# description: User in a request, with the attributes sent.
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
# description: Resource in a request, in the tenant `default` if it names none.
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
# description: Context in a request. Only a decision point may set its own location.
context(request) := object.remove(_object(request, "context"), ["pdp_type"])

default _object(_, _) := {}

_object(given, name) := given[name] if is_object(given[name])

# METADATA
# description: Checks in a bulk request.
checks(request) := request if is_array(request)

checks(request) := request.checks if is_object(request)
