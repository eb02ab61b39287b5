package permit.question_test

import data.permit.question

# Only a decision point may set holdings.
test_holdings_are_not_passed_on if {
	holdings := {"document": {"author": {"document:d1": null}}}
	question.asked({"user": {"key": "ann", "holdings": holdings, "attributes": {"holdings": holdings}}}).user == {
		"key": "ann",
		"attributes": {"holdings": holdings},
	}
}
