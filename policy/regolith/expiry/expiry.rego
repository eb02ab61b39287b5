# METADATA
# title: Expiry
# description: |
#   Facts that hold for a time. Tables of facts say of each fact until when it holds: null, or a time. A fact whose time
#   has come is absent in every respect. Times are milliseconds since 1970.
package regolith.expiry

# METADATA
# title: Live
# description: |
#   A fact still holds, given what its table says of it. In a set, which names each element again, everything holds:
#   texts come after numbers. Most facts hold for good, so that is asked first.
live(until) if {
	until == null
} else if {
	until > now
}

# METADATA
# title: Now
# description: |
#   The time of the decision. A decision point says it, once for a request, and callers have no say in it. Where nobody
#   says it, as in a stock OPA, it is the time of the machine.
now := input.time if {
	is_number(input.time)
} else := time.now_ns() / 1000000
