# METADATA
# title: Comparisons
# description: |
#   What conditions of sets ask beyond the operators of the language. An attribute that is missing is undefined or null.
#   A value of a kind that its operator does not take makes the whole set not match: the functions that say so of a
#   value begin with "not", and say nothing of what is missing.
package regolith.compare

# METADATA
# description: |
#   The value is, or holds at any depth, a whole number beyond 9007199254740991 either way. Readers of JSON round those,
#   so that it may stand for another one.
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

_inexact(value) if {
	is_number(value)
	abs(value) > 9007199254740991
}

_nested(value) if is_array(value)

_nested(value) if is_object(value)

# METADATA
# description: The value is no number, and holds none, of which one cannot tell which it is.
exact(value) if not inexact(value)

# METADATA
# description: The value is a number of which one can tell which it is.
number(value) if {
	is_number(value)
	abs(value) <= 9007199254740991
}

# METADATA
# description: The value is there, and no such number.
not_number(value) if {
	value != null
	not number(value)
}

# METADATA
# description: The value is there, and no string.
not_string(value) if {
	value != null
	not is_string(value)
}

# METADATA
# description: The value is a string that is not too long to look for another one in it.
searched(value) if {
	is_string(value)
	count(value) <= 20000
}

# METADATA
# description: The value is there, and no such string.
not_searched(value) if {
	value != null
	not searched(value)
}

# METADATA
# description: The value is a string that is not too long to be looked for in another one.
sought(value) if {
	is_string(value)
	count(value) <= 250
}

# METADATA
# description: The value is there, and no such string.
not_sought(value) if {
	value != null
	not sought(value)
}

# METADATA
# description: The value is a string that is not too long to look for a regular expression in it.
matched(value) if {
	is_string(value)
	count(value) <= 1000
}

# METADATA
# description: The value is there, and no such string.
not_matched(value) if {
	value != null
	not matched(value)
}

# METADATA
# description: |
#   The value is in the array. An array or object is looked up as an item of a set: compared with each item, an object
#   would take time quadratic in its members, each time.
member(value, array) if {
	not _nested(value)
	value in array
}

member(value, array) if {
	_nested(value)
	count({value} & items(array)) > 0
}

# METADATA
# description: The value is there, and no array.
not_array(value) if {
	value != null
	not is_array(value)
}

# METADATA
# description: The value is an array, and holds no number of which one cannot tell which it is.
list(value) if {
	is_array(value)
	not inexact(value)
}

# METADATA
# description: The value is there, and no such array.
not_list(value) if {
	value != null
	not list(value)
}

# METADATA
# description: The value is there, and no object.
not_object(value) if {
	value != null
	not is_object(value)
}

# METADATA
# description: The value is there, and neither a number nor a string.
not_orderable(value) if {
	value != null
	not number(value)
	not is_string(value)
}

# METADATA
# description: The value is there, and no array of two numbers or of two strings.
not_range(value) if {
	value != null
	not range(value)
}

# METADATA
# description: Both values are there, and not of one kind.
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
# description: The value is an array of two numbers or of two strings.
range(value) if {
	is_array(value)
	count(value) == 2
	orderable(value[0], value[1])
}

# METADATA
# description: Every item of the first array is in the second.
subset(left, right) if {
	list(left)
	list(right)
	count(items(left) - items(right)) == 0
}

# METADATA
# description: Every item of the second array is in the first.
superset(left, right) if subset(right, left)

# METADATA
# description: The arrays have an item in common.
intersects(left, right) if {
	list(left)
	list(right)
	count(items(left) & items(right)) > 0
}

items(array) := {item | some item in array}
