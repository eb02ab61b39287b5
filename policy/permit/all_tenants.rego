# METADATA
# title: All tenants
# description: "The name under which other clients ask for `permit.any_tenant`: `POST /v1/data/permit/all_tenants`."
package permit.all_tenants

import data.permit.any_tenant

# METADATA
# description: The tenants where the check is allowed, with their attributes.
allowed_tenants := any_tenant.allowed_tenants
