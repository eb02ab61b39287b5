import type { Schema } from '../../compiler/model.js';
import { type CheckTestResults, invalidCheck, maxUncovered } from '../wire/general/check-test-run.js';
import type { SetRuleEntry } from '../wire/general/environment-document.js';
import type { DecidedSide } from './messages.js';

/** A stored check test. */
type CheckTest = Pick<CheckTestResults['tests'][number], 'key' | 'description' | 'check' | 'expected'>;

/** Decided check tests. Both lists have the same order. */
export interface DecidedTests extends Pick<CheckTestResults, 'base_revision' | 'truncated'> {
	readonly tests: readonly CheckTest[];
	readonly decided: readonly DecidedSide[];
	/** Schema under test. */
	readonly schema: Schema;
}

/** Compares results with expectations, and finds the parts of the schema that no test covers. */
export function testResults({ tests, decided, schema, base_revision, truncated }: DecidedTests): CheckTestResults {
	const results = tests.flatMap(({ key, description, check, expected }, index) => {
		const result = decided[index]?.side;
		if (result === undefined) return [];
		const passed = result.code !== invalidCheck && result.allow === (expected === 'allow');
		return [{ key, description, check, expected, passed, result }];
	});
	const passed = results.filter((result) => result.passed);
	const failed = results.filter((result) => !result.passed);
	return {
		base_revision,
		passed: passed.length,
		failed: failed.length,
		truncated,
		tests: [...failed, ...passed],
		coverage: coverage(tests, decided, schema),
	};
}

function coverage(
	tests: readonly CheckTest[],
	decided: readonly DecidedSide[],
	{ resources, set_rules, condition_sets }: Schema,
): CheckTestResults['coverage'] {
	const checked = new Set(tests.map(({ check }) => `${check.resource.type}:${check.action}`));
	const derived = new Set(decided.flatMap(({ derivations }) => derivations.map((one) => JSON.stringify(one))));
	const rules = new Set(
		tests.flatMap(({ check }, index) =>
			(decided[index]?.side.by ?? [])
				.filter(({ by }) => by === 'set_rule')
				.map(({ role, userset, resourceset, resource_type }) =>
					ruleName({
						user_set: role ?? userset ?? '',
						permission: `${check.resource.type}:${check.action}`,
						resource_set: resource_type ?? resourceset ?? '',
					}),
				),
		),
	);
	const shownKeys = new Map(
		condition_sets.map(({ key, selects }) => [
			key,
			'role' in selects ? selects.role : 'resource' in selects ? selects.resource : key,
		]),
	);
	const permissions = resources.flatMap(({ key, actions }) => actions.map((action) => `${key}:${action.key}`));
	const derivations = resources.flatMap((resource) =>
		resource.roles.flatMap((role) =>
			role.derivations.map(({ relation, role: source }) => {
				const subject = resource.relations.find(({ key }) => key === relation)?.subject ?? '';
				return { role: `${resource.key}#${role.key}`, relation, from: `${subject}#${source}` };
			}),
		),
	);
	const entries = set_rules.map(({ user_set, resource, action, resource_set }) => {
		return { user_set, permission: `${resource}:${action}`, resource_set };
	});
	return {
		permissions: uncovered(permissions, (name) => !checked.has(name)),
		derivations: uncovered(derivations, (one) => !derived.has(JSON.stringify(one))),
		set_rules: uncovered(entries, ({ user_set, permission, resource_set }) => {
			const shown = {
				user_set: shownKeys.get(user_set) ?? user_set,
				resource_set: shownKeys.get(resource_set) ?? resource_set,
			};
			return !rules.has(ruleName({ ...shown, permission }));
		}),
	};
}

function ruleName({ user_set, permission, resource_set }: SetRuleEntry): string {
	return JSON.stringify([user_set, permission, resource_set]);
}

function uncovered<T>(all: readonly T[], isUncovered: (one: T) => boolean) {
	const found = all.filter(isUncovered);
	return { total: all.length, uncovered: found.length, first: found.slice(0, maxUncovered) };
}
