# METADATA
# title: Comparisons
# description: |
#   Comparisons for condition sets that Rego's own operators cannot express. A missing attribute is undefined or null.
#   If an operator does not accept the type of a value, the set does not match. Functions whose names begin with "not"
#   detect these values, and ignore missing values.
package regolith.compare

# METADATA
# description: |
#   True if the value is or contains, at any depth, a whole number above 9007199254740991 or below -9007199254740991.
#   JSON parsers round such numbers.
inexact(value) if _inexact(value)

inexact(value) if {
	is_array(value)
	some item in value
	_inexact(item)
}

inexact(value) if {
	is_array(value)
	some item in value
	_nested(item)
	walk(item, [_, inner])
	_inexact(inner)
}

inexact(value) if {
	is_object(value)
	walk(value, [_, inner])
	_inexact(inner)
}

# Two comparisons are cheaper than `abs`, which allocates a number.
_inexact(value) if {
	is_number(value)
	value > 9007199254740991
}

_inexact(value) if {
	is_number(value)
	value < -9007199254740991
}

_nested(value) if is_array(value)

_nested(value) if is_object(value)

# METADATA
# description: The value neither is nor contains an inexact number.
exact(value) if not inexact(value)

# METADATA
# description: The value is an exact number.
number(value) if {
	is_number(value)
	value >= -9007199254740991
	value <= 9007199254740991
}

# METADATA
# description: The value is present and not an exact number.
not_number(value) if {
	value != null
	not number(value)
}

# METADATA
# description: The value is present and not a string.
not_string(value) if {
	value != null
	not is_string(value)
}

# METADATA
# description: The value is a string, short enough for a substring search in it.
searched(value) if {
	is_string(value)
	count(value) <= 20000
}

# METADATA
# description: The value is present, but not a string short enough for a substring search in it.
not_searched(value) if {
	value != null
	not searched(value)
}

# METADATA
# description: The value is a string, short enough to search for.
sought(value) if {
	is_string(value)
	count(value) <= 250
}

# METADATA
# description: The value is present, but not a string short enough to search for.
not_sought(value) if {
	value != null
	not sought(value)
}

# METADATA
# description: The value is a string, short enough to match against a regular expression.
matched(value) if {
	is_string(value)
	count(value) <= 1000
}

# METADATA
# description: The value is present, but not a string short enough to match against a regular expression.
not_matched(value) if {
	value != null
	not matched(value)
}

# METADATA
# description: |
#   The array contains the value. Arrays and objects are looked up in a set, because comparing two objects takes
#   quadratic time in the number of their fields.
member(value, array) if {
	not _nested(value)
	value in array
}

member(value, array) if {
	_nested(value)
	count({value} & items(array)) > 0
}

# METADATA
# description: The value is present and not an array.
not_array(value) if {
	value != null
	not is_array(value)
}

# METADATA
# description: The value is an array without inexact numbers.
list(value) if {
	is_array(value)
	not inexact(value)
}

# METADATA
# description: The value is present, but is not an array, or contains an inexact number.
not_list(value) if {
	value != null
	not list(value)
}

# METADATA
# description: The value is present and not an object.
not_object(value) if {
	value != null
	not is_object(value)
}

# METADATA
# description: The value is present and neither a number nor a string.
not_orderable(value) if {
	value != null
	not number(value)
	not is_string(value)
}

# METADATA
# description: The value is present and not an array of two numbers or two strings.
not_range(value) if {
	value != null
	not range(value)
}

# METADATA
# description: Both values are present and have different types.
of_two_kinds(left, right) if {
	left != null
	right != null
	type_name(left) != type_name(right)
}

# METADATA
# description: Both values are numbers, or both are strings.
orderable(left, right) if {
	number(left)
	number(right)
}

orderable(left, right) if {
	is_string(left)
	is_string(right)
}

# METADATA
# description: The value is an array of two numbers or two strings.
range(value) if {
	is_array(value)
	count(value) == 2
	orderable(value[0], value[1])
}

# METADATA
# description: The second array contains every item of the first array.
subset(left, right) if {
	list(left)
	list(right)
	count(items(left) - items(right)) == 0
}

# METADATA
# description: The first array contains every item of the second array.
superset(left, right) if subset(right, left)

# METADATA
# description: The arrays share at least one item.
intersects(left, right) if {
	list(left)
	list(right)
	count(items(left) & items(right)) > 0
}

# METADATA
# description: The items of the array, as a set.
items(array) := {item | some item in array}

# METADATA
# description: |
#   The value is an IP address: IPv4, IPv6, or IPv4-mapped with the IPv4 address in decimal. Leading zeros and zones are
#   not accepted.
address(value) if _plain_address(value)

# METADATA
# description: The value is present, but is not an IP address, or has one of the rejected notations.
not_address(value) if {
	value != null
	not address(value)
}

# METADATA
# description: The value is a CIDR range, or an array of up to 100 CIDR ranges.
ranges(value) if _range(value)

ranges(value) if {
	is_array(value)
	count(value) <= 100
	every range in value {
		_range(range)
	}
}

# METADATA
# description: The value is present, but is neither a CIDR range nor an array of up to 100 CIDR ranges.
not_ranges(value) if {
	value != null
	not ranges(value)
}

# METADATA
# description: The value is a time in UTC with milliseconds, such as "2026-10-25T09:30:00.000Z".
instant(value) if {
	is_string(value)
	count(value) == 24
	strings.replace_n(_zeros, value) == "0000-00-00T00:00:00.000Z"
}

_zeros := {"1": "0", "2": "0", "3": "0", "4": "0", "5": "0", "6": "0", "7": "0", "8": "0", "9": "0"}

# METADATA
# description: The value is present, but is not a time in UTC with milliseconds.
not_instant(value) if {
	value != null
	not instant(value)
}

# METADATA
# description: A range in the array contains the address.
in_cidr(value, array) if {
	plain := _plain_address(value)
	some range in array
	net.cidr_contains(range, plain)
}

# METADATA
# description: The range, or a range in the array, contains the address.
in_ranges(value, range) if {
	_range(range)
	in_cidr(value, [range])
}

in_ranges(value, array) if {
	is_array(array)
	ranges(array)
	in_cidr(value, array)
}

# Converts an IPv4-mapped address to its IPv4 address, and returns other addresses unchanged. OPA and its WebAssembly
# disagree about mapped addresses in ranges.
_plain_address(value) := value if _ipv4(value)

_plain_address(value) := value if _ipv6(value)

_plain_address(value) := plain if {
	is_string(value)
	count(value) <= 22
	startswith(lower(value), "::ffff:")
	plain := substring(value, 7, -1)
	_ipv4(plain)
}

_ipv4(value) if {
	is_string(value)
	count(value) <= 15
	parts := split(value, ".")
	count(parts) == 4
	every part in parts {
		_whole(part, 255)
	}
}

# The built-in function also accepts ranges and, in some engines, zones.
_ipv6(value) if {
	is_string(value)
	contains(value, ":")
	count(value) <= 39
	trim(value, "0123456789abcdefABCDEF:") == ""
	not _ends_open(value)
	net.cidr_contains("::/0", value)
	not net.cidr_contains("::ffff:0:0/96", value)
}

# OPA's WebAssembly may accept a single trailing colon.
_ends_open(value) if {
	endswith(value, ":")
	not endswith(value, "::")
}

_range(value) if {
	[first, length] := split(value, "/")
	_ipv4(first)
	_whole(length, 32)
}

_range(value) if {
	[first, length] := split(value, "/")
	_ipv6(first)
	_whole(length, 128)
}

# A decimal number without leading zeros.
_whole(text, most) if {
	count(text) in {1, 2, 3}
	trim(text, "0123456789") == ""
	number := to_number(text)
	number <= most
	format_int(number, 10) == text
}
