package regolith.instant_test

import data.regolith.instant

# OPA's own functions, which WebAssembly lacks, return the same strings.
test_text if {
	every day in numbers.range_step(-40000, 60000, 1009) {
		milliseconds := (day * 86400000) + ((day * 7919) % 86400000)
		whole := floor(milliseconds)
		instant.text(whole) == time.format([whole * 1000000, "UTC", "2006-01-02T15:04:05.000Z"])
	}
}

test_text_of_fraction if instant.text(1793007000000.75) == "2026-10-26T09:30:00.000Z"
