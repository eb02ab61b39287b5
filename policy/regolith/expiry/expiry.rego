# METADATA
# title: Expiry
# description: |
#   Expiry of facts. Fact tables map each fact to its expiry: null, or a time in milliseconds since 1970. An expired
#   fact counts as missing in every respect.
package regolith.expiry

# METADATA
# title: Not expired
# description: |
#   The fact with this table value has not expired. In a set, the value is the element itself, and elements never
#   expire, because Rego orders strings after numbers. Most facts have no expiry, so null is tested first.
live(until) if {
	until == null
} else if {
	until > now
}

# METADATA
# title: Decision time
# description: |
#   Time of the decision. A decision point sets it once per request; callers cannot set it. Without a decision point, as
#   in a stock OPA, it is the system time.
now := input.time if {
	is_number(input.time)
} else := time.now_ns() / 1000000
