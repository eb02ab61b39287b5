# METADATA
# title: Explain
# description: |
#   The long answer to a check: what was asked, as the policy understood it, and what each model said.
#   It takes the input of a check and is defined for every input. Arrays have no order.
package regolith.explain

import data.regolith.check
import data.regolith.rbac

# METADATA
# title: Sections
# description: One member for what was asked and one for each model that has something to say.
# entrypoint: true
sections := {"request": request, "rbac": rbac_section}

# METADATA
# description: What was asked; `tenant` is null unless the tenant exists.
request := {
	"user": object.union(_user, {"synced": _synced, "attributes": _attributes}),
	"tenant": _tenant,
	"action": _action,
	"resource": _resource,
}

# METADATA
# description: What the roles say. An allowing section names the roles; a code is explained in docs/denial-codes.md.
rbac_section := {
	"allow": true,
	"code": check.code,
	"reason": reason,
	"allowing_roles": [role | some role in rbac.allowing_roles],
} if {
	check.allow
} else := {
	"allow": false,
	"code": check.code,
	"reason": reason,
}

# METADATA
# description: The code as a sentence about this question.
default reason := "the request is not complete"

reason := text if {
	check.code == "allow"
	text := concat("", ["the roles of user `", input.user.key, "` in tenant `", _tenant, "` grant `", _permission, "`"])
}

reason := concat("", ["resource type `", input.resource.type, "` does not exist"]) if {
	check.code == "no_such_resource"
}

reason := text if {
	check.code == "no_such_action"
	text := concat("", ["action `", input.action, "` does not exist on resource type `", input.resource.type, "`"])
}

reason := concat("", ["tenant `", input.resource.tenant, "` does not exist"]) if {
	check.code == "no_such_tenant"
}

reason := concat("", ["user `", input.user.key, "` does not exist"]) if {
	check.code == "user_not_synced"
}

reason := concat("", ["user `", input.user.key, "` has no role in any tenant"]) if {
	check.code == "no_user_roles"
}

reason := text if {
	check.code == "no_role_in_tenant"
	_tenant != null
	text := concat("", ["user `", input.user.key, "` has no role in tenant `", _tenant, "`"])
}

reason := "the check names no tenant, and roles are held in tenants" if {
	check.code == "no_role_in_tenant"
	_tenant == null
}

reason := text if {
	check.code == "no_permission"
	text := concat("", ["no role of user `", input.user.key, "` in tenant `", _tenant, "` grants `", _permission, "`"])
}

_permission := concat(":", [input.resource.type, input.action])

default _user := {}

_user := input.user if is_object(input.user)

default _synced := false

_synced := rbac.user_known

# What the check sends wins over what the policy knows.
_attributes := object.union({"key": _key, "roles": _roles, "tenants": _tenants}, _sent_attributes)

default _sent_attributes := {}

_sent_attributes := input.user.attributes if is_object(input.user.attributes)

default _key := null

_key := input.user.key

default _roles := []

_roles := [role | some role, _ in data.regolith.facts.tenant_roles[_tenant][input.user.key]] if {
	rbac.user_known
	rbac.tenant_known
}

default _tenants := []

_tenants := [tenant | some tenant, _ in data.regolith.facts.users[input.user.key]] if rbac.user_known

default _tenant := null

_tenant := input.resource.tenant if rbac.tenant_known

default _action := null

_action := input.action

default _resource := {}

_resource := object.union({"attributes": {}}, input.resource) if is_object(input.resource)
