# METADATA
# title: User permissions
# description: |
#   What a user may do: `POST /v1/data/permit/user_permissions`. Every instance is looked at, so this takes as long as
#   there are instances; a decision point finds those that count by an index.
#   Input: {"user", "tenants"?, "resources"?, "resource_types"?, "context"?}.
package permit.user_permissions

import data.permit.candidates
import data.permit.question
import data.regolith.listing

# METADATA
# description: By object identifier, `__tenant:<key>` or `<type>:<key>`.
permissions := object.union(on_tenants, on_instances) if {
	asked := object.union(candidates.filtered, {"user": question.user(input.user), "context": question.context(input)})
	on_tenants := listing.user_permissions with input as asked
	proposed := {"instances": candidates.instances, "by_permission": candidates.asked_for}
	entries := listing.instance_permissions with input as object.union(asked, proposed)
	on_instances := {name: entry |
		some entry in entries
		name := concat(":", [entry.resource.type, entry.resource.key])
	}
}

# METADATA
# description: The tenants where the user holds a role.
tenants := found if {
	found := listing.user_tenants with input as {"user": question.user(input.user)}
}
