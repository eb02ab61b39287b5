package regolith.attributes_test

import data.regolith.attributes
import data.regolith.environment_test as environment

known(question) := answer if {
	answer := attributes with input as question with data.regolith.schema as environment.schema
		with data.regolith.facts as environment.facts
}

ask(user, resource) := {"user": user, "action": "sign", "resource": object.union({"type": "document"}, resource)}

test_what_is_stored if {
	found := known(ask({"key": "ann"}, {"key": "d1", "tenant": "acme"}))
	found.user == {"level": 3, "email": "ann@example.com"}
	found.user_key == "ann"
	found.user_roles == ["viewer"]
	found.user_tenants == ["acme", "beta"]
	found.resource == {"status": "draft", "tags": {"a": 1}}
	found.resource_key == "d1"
	found.resource_type == "document"
	found.resource_tenant == "acme"
	found.tenant == {"plan": "pro"}
	found.tenant_key == "acme"
}

test_what_is_sent_replaces_whole_attributes if {
	user := {"key": "eve", "attributes": {"address": {"zip": 1}, "roles": ["viewer"], "key": "ann", "tenants": ["acme"]}}
	resource := {"key": "d1", "tenant": "acme", "attributes": {"tags": null, "tenant": "beta", "type": "folder"}}
	found := known(ask(user, resource))
	found.user.address == {"zip": 1}
	found.user.level == 7
	found.user_key == "eve"
	found.user_roles == []
	found.user_tenants == []
	found.resource.tags == null
	found.resource.status == "draft"
	found.resource_type == "document"
	found.resource_tenant == "acme"
}

test_strangers_have_what_is_sent if {
	found := known(ask({"key": "nobody", "attributes": {"level": 1}}, {"tenant": "none"}))
	found.user == {"level": 1}
	found.user_roles == []
	found.resource == {}
	found.tenant == {}
	not found.tenant_key
	not found.resource_tenant
	not found.resource_key
}

test_nothing_is_known_of_an_instance_in_another_tenant if {
	known(ask({"key": "ann"}, {"key": "d1", "tenant": "beta"})).resource == {}
}

test_the_tenant_is_known_to_those_who_hold_a_role_in_it if {
	known(ask({"key": "bob"}, {"tenant": "acme"})).tenant == {}
	known(ask({"key": "bob"}, {"tenant": "acme"})).tenant_key == "acme"
}

test_malformed[index] if {
	some index, question in [
		{},
		"ann",
		{"user": "ann", "resource": "document", "context": []},
		{"user": {"key": ["ann"], "attributes": 1}, "resource": {"type": [], "tenant": 1, "attributes": "x"}},
	]
	found := known(question)
	[found.user, found.user_roles, found.user_tenants, found.resource, found.tenant] == [{}, [], [], {}, {}]
	not found.user_key
	not found.tenant_key
}
