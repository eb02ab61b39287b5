# METADATA
# title: Comparisons
# description: |
#   Comparisons in condition sets beyond Rego's own operators. A missing attribute is undefined or null. A value of a
#   type that the operator does not accept prevents the whole set from matching: functions that detect such values begin
#   with "not" and ignore missing values.
package regolith.compare

# METADATA
# description: |
#   The value is or contains, at any depth, a whole number beyond 9007199254740991 or -9007199254740991. JSON readers
#   round such a number, so it may represent a different number.
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

# Two comparisons cost less than `abs`, which makes a new number.
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
# description: The value is a string, and short enough to be searched for a second string.
searched(value) if {
	is_string(value)
	count(value) <= 20000
}

# METADATA
# description: The value is present and not such a string.
not_searched(value) if {
	value != null
	not searched(value)
}

# METADATA
# description: The value is a string, and short enough to be searched for.
sought(value) if {
	is_string(value)
	count(value) <= 250
}

# METADATA
# description: The value is present and not such a string.
not_sought(value) if {
	value != null
	not sought(value)
}

# METADATA
# description: The value is a string, and short enough to be matched against a regular expression.
matched(value) if {
	is_string(value)
	count(value) <= 1000
}

# METADATA
# description: The value is present and not such a string.
not_matched(value) if {
	value != null
	not matched(value)
}

# METADATA
# description: |
#   The value is in the array. An array or object is looked up in a set, because comparing an object with each item
#   would take quadratic time in the number of members for each item.
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
# description: The value is present and not such an array.
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
# description: The arrays have an item in common.
intersects(left, right) if {
	list(left)
	list(right)
	count(items(left) & items(right)) > 0
}

items(array) := {item | some item in array}
