/**
 * Console screens, keyed by their path within an environment. Each value is a selector for the first content after
 * loading.
 */
export const consoleScreens: Readonly<Record<string, string>> = {
	check: 'main form',
	decisions: 'main table, main .empty',
	graph: 'main form',
	model: 'main .model-layout',
	matrix: 'main [role=grid], main .empty',
	'condition-sets': 'main table, main .empty',
	policy: 'main .policy-sides, main .empty',
	tests: 'main table, main .empty',
	draft: 'main .empty, main form',
	directory: 'main table, main .empty',
	requests: 'main .empty, main .requests-list li',
	changes: 'main .changes-revisions, main .empty',
	'decision-points': 'main table, main .empty',
	keys: 'main table',
	environments: 'main .environments-drop, main form',
	elements: 'main table, main .empty',
};
