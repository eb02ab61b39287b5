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

test_in_cidr if {
	compare.in_cidr("10.1.2.3", ["192.168.0.0/16", "10.0.0.0/8"])
	not compare.in_cidr("11.1.2.3", ["192.168.0.0/16", "10.0.0.0/8"])
	compare.in_cidr("2001:DB8::1", ["2001:db8::/32"])
	compare.in_cidr("::ffff:10.1.2.3", ["10.0.0.0/8"])
	not compare.in_cidr("::ffff:10.1.2.3", ["::/0"])
	compare.in_ranges("10.1.2.3", "10.1.2.3/32")
	not compare.in_ranges("10.1.2.3", ["10.0.0.0/8", "10.0.0.0/33"])
}

test_address if {
	every value in ["0.0.0.0", "255.255.255.255", "::", "::1", "1:2:3:4:5:6:7::", "::FFFF:1.2.3.4"] {
		compare.address(value)
	}
	every value in [
		"", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", " 1.2.3.4", "1.2.3.4/8", "fe80::1%eth0", "::1.2.3.4",
		"::ffff:a01:203", "1:2:3:4:5:6:7:8:9", "1::2::3", ":::", "12345::", "::1:", "1::2:", "1:2:3:4:5:6:7:8:", 7, [], true,
	] {
		compare.not_address(value)
	}
	not compare.not_address(null)
}

test_instant if {
	every value in ["2026-10-25T09:30:00.000Z", "0000-00-00T00:00:00.000Z", "9999-99-99T99:99:99.999Z"] {
		compare.instant(value)
	}
	every value in [
		"2026-10-25T09:30:00Z", "2026-10-25T09:30:00.000+00:00", "2026-10-25 09:30:00.000Z", "2026-10-25", "", 7, [],
		"2026-10-25t09:30:00.000z", " 2026-10-25T09:30:00.000Z", "２026-10-25T09:30:00.000Z",
	] {
		compare.not_instant(value)
	}
	not compare.not_instant(null)
}

test_ranges if {
	every value in ["0.0.0.0/0", "::/0", ["10.0.0.0/8", "2001:db8::/128"], []] {
		compare.ranges(value)
	}
	every value in ["10.0.0.0", "10.0.0.0/08", "10.0.0.0/8/8", "::ffff:10.0.0.0/104", ["10.0.0.0/8", 7], 7, {}] {
		compare.not_ranges(value)
	}
}
