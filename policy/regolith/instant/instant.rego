# METADATA
# title: Instant
# description: |
#   Times as strings, in UTC with milliseconds, such as "2026-10-25T09:30:00.000Z". These strings sort by time.
package regolith.instant

# METADATA
# title: Time as text
# description: |
#   Formats a time in milliseconds since 1970, in the years 1 to 9999. OPA's time functions are not available in
#   WebAssembly. The calculation uses years that begin in March, so a leap day is the last day of its year (Neri and
#   Schneider, Euclidean affine functions and their application to calendar algorithms).
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
	# There are 719468 days from 1 March of year 0 to 1970. The sum must be positive, because WebAssembly rounds some
	# negative fractions up.
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

# The last digits of a number, with leading zeros. `above` is a larger power of ten.
_digits(above, number) := substring(format_int(above + number, 10), 1, -1)
