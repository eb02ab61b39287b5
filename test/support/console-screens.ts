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

/**
 * Further console pages in the scene of `setDocumentScene`: details, forms and views. Each value is a selector for the
 * first content after loading.
 */
export const consolePages: Readonly<Record<string, string>> = {
	'check?user=bob&action=read&resource=document&instance=budget&tenant=acme': 'main [role=status][aria-label=Result]',
	'graph?from=user:ann&depth=3': 'main .graph-node',
	'graph?mode=schema&from=resource:document': 'main .graph-node',
	'model/roles': 'main .model-parts',
	'model/users': 'main .model-parts',
	'model/resources/document': 'main .model-parts',
	'model/resources/document?add=resource_role': 'dialog form',
	'condition-sets/seniors': 'main form',
	'condition-sets?new=userset': 'main form',
	'policy?view=compare': 'main select, main .empty',
	'policy?view=revisions': 'main table',
	'policy?view=tests': 'main select, main .empty',
	'tests?new=yes': 'main form',
	'tests?run=published': 'main .empty, main table, main #tests-coverage',
	'directory/users/ann': 'main dl',
	'directory/tenants': 'main table',
	'directory/tenants/acme': 'main dl',
	'directory/groups': 'main table, main .empty',
	'directory/instances': 'main table',
	'directory/instances/document:budget': 'main dl',
	'elements?new=yes': 'main form',
	'environments?with=production': 'main table',
};
