package regolith.expiry_test

import data.regolith.expiry

test_what_holds_for_good_holds_at_any_time if {
	expiry.live(null) with input as {"time": 0}
	expiry.live(null) with input as {"time": 99999999999999}
}

test_what_expires_holds_until_then if {
	expiry.live(2000) with input as {"time": 1999}
	not expiry.live(2000) with input as {"time": 2000}
	not expiry.live(2000) with input as {"time": 2001}
}

test_every_element_of_a_set_holds if {
	every _, element in {"folder:top", "", "0"} {
		expiry.live(element) with input as {"time": 2000}
	}
}

test_what_says_nothing_of_its_time_does_not_hold if {
	not expiry.live(false) with input as {"time": 0}
	not expiry.live(true) with input as {"time": 0}
}

test_without_a_time_in_the_input_it_is_that_of_the_machine if {
	expiry.live(2000) with time.now_ns as 1999000000 with input as {}
	not expiry.live(2000) with time.now_ns as 2000000000 with input as {}
	not expiry.live(2000) with time.now_ns as 2000000000 with input as {"time": "0"}
}

# A user's facts in one tenant: a role that expires at 2000, and a role that expires at 3000.
facts := {
	"users": {"ann": {"acme": 3000}},
	"tenants": {"acme": {}},
	"tenant_roles": {"acme": {"ann": {"editor": 2000, "viewer": 3000}}},
	"user_attributes": {"ann": {}},
}

at(time) := {"user": {"key": "ann"}, "action": "read", "resource": {"type": "document", "tenant": "acme"}, "time": time}

test_roles_that_ended_are_not_known_to_conditions if {
	data.regolith.attributes.user_roles == ["editor", "viewer"] with input as at(1000) with data.regolith.facts as facts
	data.regolith.attributes.user_roles == ["viewer"] with input as at(2000) with data.regolith.facts as facts
	data.regolith.attributes.user_roles == [] with input as at(3000) with data.regolith.facts as facts
	data.regolith.attributes.user_tenants == ["acme"] with input as at(2000) with data.regolith.facts as facts
	data.regolith.attributes.user_tenants == [] with input as at(3000) with data.regolith.facts as facts
}

test_who_has_no_role_left_is_denied_as_one_without_roles if {
	schema := {"actions": {"document": {"read": null}}}
	code := data.regolith.rbac.denial with input as at(3000) with data.regolith.facts as facts
		with data.regolith.schema as schema
	code == "no_user_roles"
}

test_tenants_are_listed_as_long_as_a_role_is_held if {
	listed(2000) == {"acme"}
	listed(3000) == set()
}

listed(time) := {tenant.key | some tenant in tenants} if {
	tenants := data.regolith.listing.user_tenants with input as {"user": {"key": "ann"}, "time": time}
		with data.regolith.facts as facts
}
