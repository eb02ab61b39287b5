# METADATA
# title: Instant
# description: |
#   Times as text, in UTC with milliseconds, such as "2026-10-25T09:30:00.000Z". Such texts sort by time.
package regolith.instant

# METADATA
# title: Time as text
# description: |
#   The text of a time in milliseconds since 1970, in a year from 1 to 9999. It is calculated because OPA's functions for
#   times are not part of its WebAssembly. In the calculation a year begins in March, so that a leap day is its last day
#   (Neri and Schneider, Euclidean affine functions and their application to calendar algorithms).
text(milliseconds) := concat("", [
	_digits(10000, ((100 * century) + year_of_century) + after_december),
	"-",
	_digits(100, month - (12 * after_december)),
	"-",
	_digits(100, floor((scaled % 65536) / 2141) + 1),
	"T",
	_digits(100, floor(of_day / 3600000)),
	":",
	_digits(100, floor(of_day / 60000) % 60),
	":",
	_digits(100, floor(of_day / 1000) % 60),
	".",
	_digits(1000, of_day % 1000),
	"Z",
]) if {
	# 719468 days lie between the first of March in the year 0 and 1970. The sum is positive, because WebAssembly rounds
	# some negative fractions up.
	whole := floor(milliseconds) + (719468 * 86400000)
	days := floor(whole / 86400000)
	of_day := whole - (days * 86400000)
	quarters := (4 * days) + 3
	century := floor(quarters / 146097)
	quarters_of_century := (4 * floor((quarters % 146097) / 4)) + 3
	year_of_century := floor(quarters_of_century / 1461)
	day_of_year := floor((quarters_of_century % 1461) / 4)
	scaled := (2141 * day_of_year) + 197913
	month := floor(scaled / 65536)
	after_december := floor(day_of_year / 306)
}

# The last digits of a number. `above` is a power of ten above the number.
_digits(above, number) := substring(format_int(above + number, 10), 1, -1)
