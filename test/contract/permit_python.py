"""
The published, unmodified Python SDK: writes facts through the decision point, and calls every decision method.

    PERMIT_API_KEY=... PERMIT_API_URL=... PERMIT_PDP_URL=... python permit_python.py

The environment must be empty. Exits with 1 at the first unexpected response.
"""

import asyncio
import os

from permit import Permit

KEY = os.environ["PERMIT_API_KEY"]
API = os.environ["PERMIT_API_URL"]
PDP = os.environ["PERMIT_PDP_URL"]


def expect(what, actual, expected):
    if actual != expected:
        raise SystemExit(f"{what}: expected {expected!r}, got {actual!r}")
    print("as expected:", what)


async def model(permit):
    """Creates a schema with roles in tenants and on instances, a derivation and condition sets."""
    api = permit.api
    await api.resources.create(
        {
            "key": "folder",
            "name": "Folder",
            "actions": {"read": {}},
            "roles": {"owner": {"name": "Owner", "permissions": ["read"]}},
        }
    )
    await api.resources.create(
        {
            "key": "document",
            "name": "Document",
            "actions": {"read": {}, "write": {}, "sign": {}},
            "attributes": {"secret": {"type": "bool"}},
            "roles": {"editor": {"name": "Editor", "permissions": ["read", "write"]}},
            "relations": {"parent": "folder"},
        }
    )
    await api.resource_roles.update(
        "document",
        "editor",
        {
            "granted_to": {
                "users_with_role": [
                    {"on_resource": "folder", "role": "owner", "linked_by_relation": "parent"}
                ]
            }
        },
    )
    await api.roles.create({"key": "viewer", "name": "Viewer", "permissions": ["document:read"]})
    await api.resource_attributes.create("__user", {"key": "level", "type": "number"})
    await api.condition_sets.create(
        {
            "key": "senior",
            "name": "Senior",
            "type": "userset",
            "conditions": {"allOf": [{"user.level": {"greater-than": 5}}]},
        }
    )
    await api.condition_sets.create(
        {
            "key": "open_documents",
            "name": "Open documents",
            "type": "resourceset",
            "resource_id": "document",
            "conditions": {"allOf": [{"resource.secret": {"equals": False}}]},
        }
    )
    await api.condition_set_rules.create(
        {"user_set": "senior", "permission": "document:sign", "resource_set": "open_documents"}
    )


async def facts(permit):
    """Writes facts through the decision point, so the next check includes them."""
    with permit.wait_for_sync(timeout=20) as synced:
        api = synced.api
        await api.tenants.create({"key": "acme", "name": "Acme"})
        await api.users.sync({"key": "ann", "email": "ann@example.com", "attributes": {"level": 9}})
        await api.users.create({"key": "ben"})
        await api.users.create({"key": "cat"})
        await api.resource_instances.create({"resource": "folder", "key": "plans", "tenant": "acme"})
        await api.resource_instances.create(
            {"resource": "document", "key": "plan", "tenant": "acme", "attributes": {"secret": False}}
        )
        await api.relationship_tuples.create(
            {"subject": "folder:plans", "relation": "parent", "object": "document:plan"}
        )
        await api.users.assign_role({"user": "ann", "role": "viewer", "tenant": "acme"})
        await api.role_assignments.assign(
            {"user": "ben", "role": "owner", "resource_instance": "folder:plans"}
        )


async def decisions(permit):
    plan = {"type": "document", "key": "plan", "tenant": "acme"}
    any_document = {"type": "document", "tenant": "acme"}
    for user, action, resource, allowed in [
        ("ann", "read", any_document, True),
        ({"key": "ann"}, "read", any_document, True),
        ("ann", "write", any_document, False),
        ("ann", "read", "document", False),
        ("ann", "sign", plan, True),
        ({"key": "ann", "attributes": {"level": 1}}, "sign", plan, False),
        ("ben", "write", plan, True),
        ("ben", "write", any_document, False),
        ("cat", "read", plan, False),
        ("nobody", "read", plan, False),
        ("nobody", "fly", {"type": "nothing"}, False),
    ]:
        expect(f"check {user} {action} {resource}", await permit.check(user, action, resource), allowed)
    many = [
        {"user": "ann", "action": "read", "resource": any_document},
        {"user": "ben", "action": "write", "resource": plan},
        {"user": "cat", "action": "read", "resource": "document:plan"},
    ]
    expect("bulk_check", await permit.bulk_check(many), [True, True, False])
    expect("bulk_check of none", await permit.bulk_check([]), [])
    permissions = await permit.get_user_permissions("ann")
    expect("get_user_permissions", sorted(permissions["__tenant:acme"]["permissions"]), ["document:read"])
    permissions = await permit.get_user_permissions("ben", resource_types=["document"])
    expect("get_user_permissions of a type", list(permissions), ["document:plan"])
    found = await permit.authorized_users("write", plan)
    expect("authorized_users", [(user, a[0].role) for user, a in found.users.items()], [("ben", "folder#owner")])
    found = await permit.authorized_users("read", any_document)
    expect("authorized_users of a type", (found.resource, list(found.users)), ("document:*", ["ann"]))
    resources = [
        {"type": "document", "key": "plan", "tenant": "acme"},
        {"type": "document", "key": "other", "tenant": "acme"},
    ]
    kept = await permit.filter_objects("ben", "write", {}, resources)
    expect("filter_objects", [resource["key"] for resource in kept], ["plan"])
    assigned = await permit.pdp_api.role_assignments.list()
    expect(
        "pdp_api.role_assignments",
        [(a.user, a.role, a.tenant, a.resource_instance) for a in assigned],
        [("ann", "viewer", "acme", None), ("ben", "owner", "acme", "folder:plans")],
    )
    assigned = await permit.pdp_api.role_assignments.list(user_key="ben", per_page=1)
    expect("pdp_api.role_assignments of a user", len(assigned), 1)


async def revocations(permit):
    with permit.wait_for_sync(timeout=20) as synced:
        await synced.api.users.unassign_role({"user": "ann", "role": "viewer", "tenant": "acme"})
        expect(
            "a revocation is known to the next check",
            await permit.check("ann", "read", {"type": "document", "tenant": "acme"}),
            False,
        )
        await synced.api.role_assignments.unassign(
            {"user": "ben", "role": "owner", "tenant": "acme", "resource_instance": "folder:plans"}
        )
        expect(
            "also of a derived role",
            await permit.check("ben", "write", {"type": "document", "key": "plan", "tenant": "acme"}),
            False,
        )


async def main():
    permit = Permit(
        token=KEY,
        api_url=API,
        pdp=PDP,
        proxy_facts_via_pdp=True,
        facts_sync_timeout=20,
        facts_sync_timeout_policy="fail",
    )
    await model(permit)
    await facts(permit)
    for _ in range(100):
        if await permit.check("ben", "write", {"type": "document", "key": "plan", "tenant": "acme"}):
            break
        # The schema must be compiled first. Fact writes do not wait for the compilation.
        await asyncio.sleep(0.2)
    await decisions(permit)
    await revocations(permit)


asyncio.run(main())
