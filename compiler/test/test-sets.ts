/** Generates the tests for condition sets and their rules. */
import { automaticTarget } from '../data/data.js';
import { groupBy } from '../group-by.js';
import type { ConditionSet, Schema, SetRule } from '../model.js';
import { sortedBy } from '../order.js';
import { ruleText } from '../policy/standing.js';
import { jsonValue } from '../rego/json-value.js';
import { packagePart } from '../rego/path.js';
import { type Fragment, lines, paragraphs, rego } from '../rego/rego.js';
import { type Members, type Table, table } from '../rego/table.js';
import type { TestRules, TestSection } from './test-rules.js';

/** Writes the condition set tables and tests. The schema must have condition sets. */
export function setSection(schema: Schema): TestSection {
	const { condition_sets, resources, set_rules } = schema;
	const ofResources = condition_sets.filter(({ type }) => type === 'resourceset');
	const tables = {
		user_sets: setTable(condition_sets.filter(({ type }) => type === 'userset')),
		resource_sets: grouped(ofResources, ({ resource }) => resource ?? '', setTable),
		set_rules: grouped(
			set_rules,
			({ resource }) => resource,
			(ofType) => grouped(ofType, ({ action }) => action, ruleTable),
		),
	};
	// The facts for these tests exist only if the schema has resources.
	const automatic = resources.length > 0 && condition_sets.some(({ selects }) => 'role' in selects);
	return {
		...setTests(sortedBy(set_rules, ruleText), automatic),
		table: paragraphs([
			lines([setsComment, rego`user_sets := ${table(tables.user_sets)}`]),
			rego`resource_sets := ${table(tables.resource_sets)}`,
			lines([rulesComment, rego`set_rules := ${table(tables.set_rules)}`]),
		]),
	};
}

const setsComment = rego`# User sets, and resource sets by resource type: null, or the role or resource type of an automatic set.`;
const rulesComment = rego`# Rules by resource type and action: each user set, with the resource sets on which it may perform the action.`;

function setTable(sets: readonly ConditionSet[]): Members {
	return {
		members: sortedBy(sets, ({ key }) => key).map(({ key, selects }) => [key, jsonValue(automaticTarget(selects))]),
	};
}

function ruleTable(rules: readonly SetRule[]): Members {
	const nothing = () => rego`null`;
	return grouped(
		rules,
		({ user_set }) => user_set,
		(ofSet) => grouped(ofSet, ({ resource_set }) => resource_set, nothing),
	);
}

function grouped<T>(rows: readonly T[], toKey: (row: T) => string, toTable: (rows: readonly T[]) => Table): Members {
	const groups = sortedBy([...groupBy(rows, toKey)], ([key]) => key);
	return { members: groups.map(([key, group]) => [key, toTable(group)]) };
}

/** Writes the tests for condition sets and these rules. `automatic` is true if any set is automatic for a role. */
function setTests(rules: readonly SetRule[], automatic: boolean): TestRules {
	return {
		tests: [
			rego`# The data document has these condition sets and rules, and no others.
test_condition_sets if {
	data.regolith.schema.user_sets == user_sets
	data.regolith.schema.resource_sets == resource_sets
	data.regolith.schema.set_rules == set_rules
}`,
			...(automatic
				? [
						rego`test_user_sets_of_roles[set] if {
	some set, role in user_sets_of_roles
	user_set_is_of_role(set, role)
}`,
					]
				: []),
			...rules.map(ruleTest),
		],
		helpers: [
			...(automatic
				? [
						rego`user_sets_of_roles := {set: role | some set, role in user_sets; role != null}`,
						rego`# The set selects the holders of the role in the check's tenant, and no other users.
user_set_is_of_role(set, role) if {
	facts := with_tenant_role(role)
	here := {"user": {"key": "someone"}, "resource": {"tenant": "here"}}
	elsewhere := {"user": {"key": "someone"}, "resource": {"tenant": "elsewhere"}}
	data.regolith.matching.user_sets[set] with input as here with data.regolith.facts as facts
	not data.regolith.matching.user_sets[set] with input as elsewhere with data.regolith.facts as facts
}`,
					]
				: []),
			...(rules.length === 0
				? []
				: [
						rego`# Returns a check by a user without roles, for a resource without attributes.
question_of(type, action) := {
	"user": {"key": "someone"},
	"action": action,
	"resource": {"type": type, "tenant": "here"},
}`,
					]),
		],
	};
}

/**
 * Writes the test of a rule. The test makes both sets select everything, and expects the action to be allowed. Each
 * test is a separate numbered rule, because OPA (1.22) loses replaced functions in rules with test tables.
 */
function ruleTest({ user_set, resource_set, resource, action }: SetRule, index: number): Fragment {
	const name = `${user_set} ${resource}:${action} ${resource_set}`;
	return rego`# ${name}
test_set_rule_${index + 1} if {
	question := question_of(${resource}, ${action})
	check.permitted with input as question
		with data.regolith.facts as nothing_held
		with data.regolith.user_sets${packagePart(user_set)}.selects as true
		with data.regolith.resource_sets${packagePart(resource_set)}.selects as true
}`;
}
