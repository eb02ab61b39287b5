# METADATA
# title: User permissions
# description: |
#   Lists a user's permissions: `POST /v1/data/permit/user_permissions`. Examines every instance, so it is slow in large
#   environments. A decision point finds the relevant instances through an index instead.
#   Input: {"user", "tenants"?, "resources"?, "resource_types"?, "context"?}.
package permit.user_permissions

import data.permit.candidates
import data.permit.question
import data.regolith.listing

# METADATA
# description: Maps an object identifier, `__tenant:<key>` or `<type>:<key>`, to the permissions there.
permissions := object.union(on_tenants, on_instances) if {
	question.plain(input)
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
# description: Tenants where the user holds a role.
tenants := found if {
	found := listing.user_tenants with input as {"user": question.user(input.user)}
}
