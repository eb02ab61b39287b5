# METADATA
# title: Explain
# description: |
#   Explains a check: the check as the policy read it, and the result of each model. Takes the input of a check, and is
#   defined for every input. Arrays are unordered.
package regolith.explain

import data.regolith.abac
import data.regolith.attributes
import data.regolith.check
import data.regolith.expiry
import data.regolith.rbac
import data.regolith.rebac

# METADATA
# title: Sections
# description: |
#   A section for the request and one for each relevant model. If a model allows the check, only the models that allow
#   it are relevant; otherwise all models in use are.
# entrypoint: true
sections := object.union({"request": request}, _models)

_models[model] := section if {
	some model, section in _sections
	section.allow == check.allow
}

_sections.rbac := rbac_section

_sections.rebac := rebac_section if rebac.applies(input.resource)

_sections.abac := abac_section if abac.active

_sections.pending := pending_section if check.code == "policy_pending"

# METADATA
# description: The check as the policy read it; `tenant` is null if the tenant does not exist.
request := {
	"user": object.union(_user, {"synced": _synced, "attributes": _attributes}),
	"tenant": _tenant,
	"action": _action,
	"resource": _resource,
}

# METADATA
# description: |
#   Result of tenant roles. If they allow the check, the section lists the granting roles. docs/develop/denial-codes.md
#   explains the codes.
rbac_section := {
	"allow": true,
	"code": "allow",
	"reason": reason.allow,
	"allowing_roles": [role | some role in rbac.allowing_roles],
} if {
	rbac.granted
	rbac.action_known
} else := {
	"allow": false,
	"code": rbac.denial,
	"reason": _reason(rbac.denial),
}

# METADATA
# description: |
#   Result of roles on the instance. If they allow the check, the section lists each granting role with its source: an
#   assignment, a derivation from a role on a related instance, or other roles on the instance. If they deny it, the
#   section lists the missing context values that conditional assignments and relationships need.
rebac_section := {
	"allow": true,
	"code": "allow",
	"reason": reason.allow_on_instance,
	"allowing_roles": [role | some role in _allowing_instance_roles],
} if {
	rebac.granted
	rbac.action_known
} else := object.union(
	{
		"allow": false,
		"code": rebac.denial,
		"reason": concat("", [_instance_reason(rebac.denial), _missing_reason]),
	},
	_missing,
)

default _missing := {}

_missing := {"missing_context": sort(_missing_context)} if count(_missing_context) > 0

default _missing_reason := ""

_missing_reason := text if {
	names := concat("`, `", _missing.missing_context)
	text := concat("", ["; conditions read `", names, "`, which the context lacks"])
}

# Names of context values that the check lacks, but that are read by conditions of the user's assignments in the tenant,
# or by conditions of relationships on paths to the instance.
_missing_context contains name if {
	some set in (_conditions_in_tenant | _conditions_above)
	some name in data.regolith.schema.conditions.grant[set].context
	not _in_context(name)
}

_conditions_in_tenant contains set if {
	some roles in data.regolith.facts.conditional_roles[input.user.key]
	some instances in roles
	some instance, grants in instances
	data.regolith.facts.instances[instance] == input.resource.tenant
	some set, grant in grants
	expiry.live(grant.until)
}

default _conditions_above := set()

# Conditions of relationships on paths to the instance, up to nine relationships from it. Follows at most 50 subjects of
# an object, and stops at more than 50 objects, so an explanation takes little longer than the check.
_conditions_above := {set |
	some object in _with_subjects_8({rebac.instance})
	some relation in _relations_of(object)
	some grants in data.regolith.facts.conditional_relations[object][relation]
	some set, grant in grants
	expiry.live(grant.until)
} if {
	data.regolith.schema.relation_conditions
	rebac.instance
}

_with_subjects_8(objects) := _with_subjects_4(_with_subjects_4(objects))

_with_subjects_4(objects) := _with_subjects_2(_with_subjects_2(objects))

_with_subjects_2(objects) := _with_subjects(_with_subjects(objects))

_with_subjects(objects) := objects | {subject |
	count(objects) <= 50
	some object in objects
	some relation in _relations_of(object)
	some table in ["relations", "conditional_relations"]
	subjects := data.regolith.facts[table][object][relation]
	count(subjects) <= 50
	some subject, _ in subjects
}

# Relations by which roles on the object are derived.
_relations_of(object) := {derivation.relation |
	some derivations in data.regolith.schema.resource_roles[split(object, ":")[0]]
	some derivation in derivations
}

_in_context(name) if input.context[name] != null

# METADATA
# description: |
#   Result of condition sets. If they allow the check, the section lists each granting rule, with the role or resource
#   in place of an automatic set. If they deny it, the section lists the matching sets.
abac_section := {
	"allow": true,
	"code": "allow",
	"reason": reason.allow_by_conditions,
	"allowing_rules": [rule | some rule in abac.allowing_rules],
} if {
	abac.granted
	rbac.action_known
} else := object.union(
	{
		"allow": false,
		"code": abac.denial,
		"reason": _conditions_reason(abac.denial),
	},
	_matching(abac.denial),
)

# METADATA
# description: True if a possible grant depends on a pending policy.
pending_section := {
	"allow": false,
	"code": "policy_pending",
	"reason": reason.policy_pending,
}

_matching("no_matching_resourcesets") := {"matching_usersets": [key | some key in abac.matching_user_sets]}

_matching("no_matching_rules") := {
	"matching_usersets": [key | some key in abac.matching_user_sets],
	"matching_resourcesets": [key | some key in abac.matching_resource_sets],
}

_matching(code) := {} if {
	code != "no_matching_resourcesets"
	code != "no_matching_rules"
}

_allowing_instance_roles contains allowing if {
	some role in rebac.held_roles
	data.regolith.schema.resource_grants[input.resource.type][input.action][role] == null
	allowing := {
		"role": _role_name(rebac.instance, role),
		"resource": rebac.instance,
		"reason": concat("", ["user `", input.user.key, "` holds `", role, "` on `", rebac.instance, "`"]),
		"sources": [source | some source in _sources[role]],
	}
}

# Direct source of a role on the instance, without the rest of the path.
_sources[role] contains source if {
	some role in rebac.held_roles
	expiry.live(rebac.holdings[input.resource.type][role][rebac.instance])
	source := {
		"type": "role_assignment",
		"role": _role_name(rebac.instance, role),
		"resource": rebac.instance,
	}
}

_sources[role] contains source if {
	some role in rebac.held_roles
	expiry.live(data.regolith.facts.public_roles[input.resource.type][role][rebac.instance])
	source := {
		"type": "role_assignment",
		"user": "*",
		"role": _role_name(rebac.instance, role),
		"resource": rebac.instance,
	}
}

_sources[role] contains source if {
	some role in rebac.held_roles
	type := input.resource.type
	some set in data.regolith.conditional[type].met[role]
	grant := data.regolith.facts.conditional_roles[input.user.key][type][role][rebac.instance][set]
	source := {
		"type": "role_assignment",
		"role": _role_name(rebac.instance, role),
		"resource": rebac.instance,
		"condition": {"set": set, "values": grant.values},
	}
}

_sources[role] contains source if {
	some role in rebac.held_roles
	some derivation in data.regolith.schema.resource_roles[input.resource.type][role]
	_counts(derivation)
	some subject, until in data.regolith.facts.relations[rebac.instance][derivation.relation]
	expiry.live(until)
	_held_on(subject, derivation)
	source := {
		"type": "role_derivation",
		"role": _role_name(subject, derivation.role),
		"resource": subject,
		"relation": derivation.relation,
	}
}

_sources[role] contains source if {
	some role in rebac.held_roles
	type := input.resource.type
	some derivation in data.regolith.schema.resource_roles[type][role]
	_counts(derivation)
	some [subject, set] in data.regolith.conditional_relations[type][derivation.relation].met
	_held_on(subject, derivation)
	grant := data.regolith.facts.conditional_relations[rebac.instance][derivation.relation][subject][set]
	source := {
		"type": "role_derivation",
		"role": _role_name(subject, derivation.role),
		"resource": subject,
		"relation": derivation.relation,
		"condition": {"set": set, "values": grant.values},
	}
}

# True if the user holds the derivation's source role on the subject.
_held_on(subject, derivation) if {
	resource := {
		"type": derivation.resource,
		"key": substring(subject, count(derivation.resource) + 1, -1),
		"tenant": input.resource.tenant,
	}
	data.regolith.instances[derivation.resource].holds[derivation.role] with input.resource as resource
}

# The roles in a computed role's expression that the user holds.
_sources[role] contains source if {
	some role in rebac.held_roles
	expression := data.regolith.schema.computed_roles[input.resource.type][role]
	walk(expression, [_, operand])
	rebac.held_roles[operand]
	source := {
		"type": "computed_role",
		"role": _role_name(rebac.instance, operand),
		"resource": rebac.instance,
	}
}

_counts(derivation) if not derivation.no_direct_roles_on_object

_counts(derivation) if {
	derivation.no_direct_roles_on_object
	not rebac.assigned(rebac.holdings_or_none, input.resource.type, rebac.instance)
}

_role_name(instance, role) := concat("#", [instance, role])

# METADATA
# description: Describes the code in a sentence about this check, with the available details.
default _reason(_) := "the request is incomplete"

_reason(code) := reason[code]

default _instance_reason(_) := "the request is incomplete"

_instance_reason("no_permission") := text if {
	text := concat("", ["no role of user `", input.user.key, "` on `", rebac.name, "` grants `", _permission, "`"])
}

_instance_reason(code) := reason[code] if code != "no_permission"

default _conditions_reason(_) := "the request is incomplete"

_conditions_reason(code) := reason[code]

reason.allow := text if {
	text := concat("", ["the roles of user `", input.user.key, "` in tenant `", _tenant, "` grant `", _permission, "`"])
}

reason.allow_on_instance := text if {
	text := concat("", ["the roles of user `", input.user.key, "` on `", rebac.name, "` grant `", _permission, "`"])
}

reason.no_such_resource := concat("", ["resource type `", input.resource.type, "` does not exist"])

reason.no_such_action := text if {
	text := concat("", ["action `", input.action, "` does not exist on resource type `", input.resource.type, "`"])
}

reason.no_such_tenant := concat("", ["tenant `", input.resource.tenant, "` does not exist"])

reason.user_not_synced := concat("", ["user `", input.user.key, "` does not exist"])

reason.no_user_roles := concat("", ["user `", input.user.key, "` has no role in any tenant"])

reason.no_role_in_tenant := concat("", ["user `", input.user.key, "` has no role in tenant `", _tenant, "`"]) if {
	_tenant != null
}

reason.no_role_in_tenant := "the check has no tenant, so no tenant role applies" if _tenant == null

reason.no_permission := text if {
	text := concat("", ["no role of user `", input.user.key, "` in tenant `", _tenant, "` grants `", _permission, "`"])
}

reason.no_such_resource_instance := concat("", ["resource instance `", rebac.name, "` does not exist"])

reason.tenant_mismatch := text if {
	text := concat("", ["resource instance `", rebac.name, "` is not in tenant `", input.resource.tenant, "`"])
}

reason.no_graph_roles := concat("", ["user `", input.user.key, "` has no role on `", rebac.name, "`"])

reason.allow_by_conditions := concat("", ["a condition set rule grants `", _permission, "`"])

reason.cloud_pdp_not_supporting_abac := "this decision point runs in cloud mode, which does not evaluate conditions"

reason.no_matching_usersets := concat("", ["user `", input.user.key, "` matches no user set"])

reason.no_matching_resourcesets := concat("", ["the resource matches no resource set of type `", input.resource.type, "`"])

reason.no_matching_rules := text if {
	text := concat("", ["no rule grants `", _permission, "` to a matching user set on a matching resource set"])
}

reason.policy_pending := text if {
	text := concat("", ["a possible grant of `", _permission, "` was changed, and the new policy is not active yet"])
}

_permission := concat(":", [input.resource.type, input.action])

default _user := {}

_user := object.remove(input.user, {"holdings"}) if is_object(input.user)

default _synced := false

_synced := rbac.user_known

# Built-in attributes override the attributes in the check.
_attributes := object.union(attributes.user, {"key": _key, "roles": attributes.user_roles, "tenants": attributes.user_tenants})

default _key := null

_key := input.user.key

default _tenant := null

_tenant := input.resource.tenant if rbac.tenant_known

default _action := null

_action := input.action

default _resource := {}

_resource := object.union(object.remove(input.resource, {"attributes"}), {"attributes": attributes.resource}) if {
	is_object(input.resource)
}
