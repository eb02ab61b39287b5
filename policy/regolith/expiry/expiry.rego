# METADATA
# title: Expiry
# description: |
#   Expiry of facts. Fact tables map each fact to its expiry: null, or a time in milliseconds since 1970. An expired
#   fact is treated as missing.
package regolith.expiry

# METADATA
# title: Not expired
# description: |
#   True if a fact with this expiry has not expired. Also accepts an element of a set, which is a string and never
#   expires, because Rego orders strings after numbers. Tests null first, because most facts have no expiry.
live(until) if {
	until == null
} else if {
	until > now
}

# METADATA
# title: Decision time
# description: |
#   Time of the decision. A decision point sets it once per request, and callers cannot set it. In a stock OPA, it is
#   the system time.
now := input.time if {
	is_number(input.time)
} else := time.now_ns() / 1000000
