package regolith.compare_test

import data.regolith.compare

values := {
	"null": null,
	"boolean": false,
	"number": 0,
	"string": "",
	"array": [],
	"object": {},
}

kinds := {kind | some kind, _ in values}

test_what_is_not_of_a_kind_is_named if {
	{kind | some kind in kinds; compare.not_number(values[kind])} == kinds - {"null", "number"}
	{kind | some kind in kinds; compare.not_string(values[kind])} == kinds - {"null", "string"}
	{kind | some kind in kinds; compare.not_array(values[kind])} == kinds - {"null", "array"}
	{kind | some kind in kinds; compare.not_object(values[kind])} == kinds - {"null", "object"}
	{kind | some kind in kinds; compare.not_orderable(values[kind])} == kinds - {"null", "number", "string"}
	{kind | some kind in kinds; compare.not_range(values[kind])} == kinds - {"null"}
}

test_ranges_have_two_ends_of_one_kind if {
	ranges := [[1, 2], [2, 1], ["a", "b"]]
	others := [[1], [1, 2, 3], [1, "b"], [null, null], [1, null], [null, 1], [true, true], [[], []]]
	every range in ranges { not compare.not_range(range) }
	every other in others { compare.not_range(other) }
}

test_two_kinds_are_told_from_one if {
	every left in kinds {
		every right in kinds {
			told(values[left], values[right]) == different(left, right)
		}
	}
}

test_order_is_between_two_numbers_or_two_strings if {
	ordered == {{"number"}, {"string"}}
}

ordered contains {left, right} if {
	some left in kinds
	some right in kinds
	compare.orderable(values[left], values[right])
}

told(left, right) := {null | compare.of_two_kinds(left, right)} != set()

different(left, right) if {
	left != right
	not "null" in {left, right}
} else := false

test_long_strings_are_not_searched if {
	piece := concat("", [character | some number in numbers.range(10000, 11999); character := format_int(number, 10)])
	compare.searched(piece)
	not compare.not_searched(piece)
	not compare.sought(piece)
	compare.not_sought(piece)
	compare.not_searched(concat("", [piece, piece, piece]))
	not compare.not_searched(null)
	not compare.not_sought(null)
	compare.not_searched(1)
	compare.not_sought([])
}

test_arrays_are_compared_as_sets if {
	compare.subset([1, 1, {"a": 1}], [{"a": 1}, 2, 1])
	compare.subset([], [])
	not compare.subset([1, "2"], [1, 2])
	compare.superset([1, 2], [2, 2])
	not compare.superset([2], [1, 2])
	compare.intersects([1, 2], [2, 3])
	not compare.intersects([1, 2], ["2", null])
	not compare.intersects([], [])
}

test_what_is_no_array_is_in_no_relation if {
	every kind in kinds - {"array"} {
		not compare.subset(values[kind], [])
		not compare.subset([], values[kind])
		not compare.superset(values[kind], [])
		not compare.superset([], values[kind])
		not compare.intersects(values[kind], [""])
		not compare.intersects([""], values[kind])
	}
}

test_inexact if {
	every value in [
		9007199254740992,
		-9007199254740992,
		1e300,
		[1, 9007199254740992],
		[["a", {"b": [-1e21]}]],
		{"a": {"b": [9007199254740992]}},
	] {
		compare.inexact(value)
		not compare.exact(value)
		not compare.number(value)
		not compare.list(value)
	}
}

test_exact if {
	every value in [9007199254740991, -9007199254740991, 1.5, "9007199254740993", [], {}, [{"a": ["b", 1, null, true]}], true] {
		compare.exact(value)
		not compare.inexact(value)
	}
	compare.number(9007199254740991)
	compare.list([1, "a", {"b": [9007199254740991]}])
}
