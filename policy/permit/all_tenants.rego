# METADATA
# title: All tenants
# description: "Alias of `permit.any_tenant` for other clients: `POST /v1/data/permit/all_tenants`."
package permit.all_tenants

import data.permit.any_tenant

# METADATA
# description: Tenants where the check is allowed, with their attributes.
allowed_tenants := any_tenant.allowed_tenants
