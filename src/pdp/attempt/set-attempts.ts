/** Finds condition set rules that grant a check, or that could grant it with other attributes or with an added role. */

import { attributeText, isAsked } from '../../../compiler/condition/attribute.js';
import type { AttributePath, Comparison, Condition } from '../../../compiler/condition/condition.js';
import { durationLength, timeBefore } from '../../../compiler/condition/duration.js';
import type { Subject } from '../../../compiler/condition/explain-condition.js';
import { roleRequired } from '../../../compiler/condition/resource-roles.js';
import { lookUp } from '../../../compiler/condition/value.js';
import type { Json } from '../../../compiler/model.js';
import { setRulesPlace } from '../../../compiler/policy/rule-place.js';
import type { Steps } from '../../../compiler/steps.js';
import type { Attempt, AttemptComparison, AttemptFact, AttemptStep } from '../../wire/decision/attempt.js';
import { conditionSetsIn, type RuleOfSets, type SetType } from '../facts/condition-sets.js';
import { type FoundAttempts, missingObjects, missingTenantAndUser } from './role-attempts.js';
import { type FactChanges, noFactChanges, type RoleFacts } from './role-facts.js';
import { noChanges, type SetFacts, textsIn, withAttribute } from './set-facts.js';
import { type WorkLimit, WorkSpent } from './work-limit.js';

/** Maximum number of changes per attempt. Each change doubles the number of subsets to try. */
export const maxChanges = 6;

/** Maximum number of attempts by rules to consider. */
const maxFound = 200;
/** Maximum number of ways kept for a condition, or combined for each side of a rule. */
const maxWays = 8;
const maxWaysOfSide = 3;

/** A comparison in a set, and its required result. */
interface Demand {
	readonly set: string;
	readonly comparison: Comparison;
	readonly wanted: boolean;
}

/** A way to satisfy a condition. */
interface Way {
	/** Comparisons whose required results together satisfy the condition. */
	readonly demands: readonly Demand[];
	/** Number of demands that are currently not met. */
	readonly unmet: number;
}

/** A way for a set and all its ancestors to match. */
interface SideWay extends Way {
	/** Role required by an automatic set; `undefined` if there is none. */
	readonly role: string | undefined;
}

/**
 * Finds attempts by condition set rules, either passing or failing. Failing attempts are proposals. Throws `WorkSpent`.
 */
export function setAttempts(sets: SetFacts, passed: boolean, work: WorkLimit): Steps<FoundAttempts> {
	return passed ? passedRules(sets, work) : failedRules(sets, work);
}

function* passedRules(sets: SetFacts, work: WorkLimit): Steps<FoundAttempts> {
	const { facts, check } = sets.roles;
	const subject = yield* sets.subjectWith(noFactChanges, noChanges, work);
	const attempts: Attempt[] = [];
	for (const rule of conditionSetsIn(facts.schema).rules(check.type, check.action)) {
		if (attempts.length === maxFound) return { attempts, more: true };
		if (work.step()) yield;
		const matches =
			(yield* sets.selects(['userset', rule.userSet], noFactChanges, subject, work)) &&
			(yield* sets.selects(['resourceset', rule.resourceSet], noFactChanges, subject, work));
		if (matches) attempts.push(attemptBy(sets, rule, { ...noFactChanges, compare: [] }));
	}
	return { attempts, more: false };
}

function* failedRules(sets: SetFacts, work: WorkLimit): Steps<FoundAttempts> {
	const { facts, check } = sets.roles;
	const attempts: Attempt[] = [];
	const known = new Map<string, readonly SideWay[]>();
	let more = false;
	const now = yield* sets.subjectWith(noFactChanges, noChanges, work);
	function* waysOf(type: SetType, key: string): Steps<readonly SideWay[]> {
		const name = `${type} ${key}`;
		const ways = known.get(name) ?? (yield* waysToMatch(sets, [type, key], now, work));
		known.set(name, ways);
		return ways;
	}
	try {
		for (const rule of conditionSetsIn(facts.schema).rules(check.type, check.action)) {
			for (const user of yield* waysOf('userset', rule.userSet)) {
				for (const resource of yield* waysOf('resourceset', rule.resourceSet)) {
					if (attempts.length === maxFound) throw new WorkSpent();
					if (work.step()) yield;
					const proposed = yield* proposal(sets, rule, { sides: [user, resource], now }, work);
					if (proposed === 'too_large') more = true;
					else if (proposed !== undefined) attempts.push(proposed);
				}
			}
		}
	} catch (error) {
		if (!(error instanceof WorkSpent)) throw error;
		more = true;
	}
	return { attempts, more, blocking: blockingRoles([...known.values()].flat(), now) };
}

/** Returns the roles held on the resource that any of these ways excludes. */
function blockingRoles(ways: readonly SideWay[], now: Subject): readonly string[] {
	const held = textsIn(now.user, 'resource_roles');
	const excluded = ways.flatMap(({ demands }) =>
		demands.flatMap(({ comparison, wanted }) => (wanted ? [] : (roleRequired(comparison) ?? []))),
	);
	return held.filter((role) => excluded.includes(role)).sort();
}

/**
 * Returns the ways for a set and all its ancestors to match. Returns an empty list if any of these sets selects
 * nothing.
 */
function* waysToMatch(
	sets: SetFacts,
	[type, key]: readonly [SetType, string],
	now: Subject,
	work: WorkLimit,
): Steps<readonly SideWay[]> {
	let role: string | undefined;
	let ways: readonly Way[] = [{ demands: [], unmet: 0 }];
	for (const set of sets.ancestry(type, key)) {
		if (set.standsFor !== undefined) {
			if (type === 'userset') role = set.standsFor;
		} else if (set.condition === undefined) return [];
		else ways = joined(ways, yield* waysToMeet(sets, { set: set.key, wanted: true, now, work }, set.condition));
	}
	return ways.slice(0, maxWaysOfSide).map((way) => ({ ...way, role }));
}

/** Required result for a condition in a set. */
interface Wish {
	readonly set: string;
	readonly wanted: boolean;
	/** Subject without changes. */
	readonly now: Subject;
	readonly work: WorkLimit;
}

/** Returns the ways to satisfy a condition, fewest unmet demands first. */
function* waysToMeet(sets: SetFacts, wish: Wish, condition: Condition): Steps<readonly Way[]> {
	const { set, wanted, now, work } = wish;
	if (condition.kind === 'comparison') {
		const truth = yield* sets.compare(condition, now, work);
		return [{ demands: [{ set, comparison: condition, wanted }], unmet: truth === wanted ? 0 : 1 }];
	}
	if (condition.kind === 'not') return yield* waysToMeet(sets, { ...wish, wanted: !wanted }, condition.condition);
	// A negated `all` is an `any` over negated conditions, and vice versa.
	const isAll = (condition.kind === 'all') === wanted;
	let ways: readonly Way[] = isAll ? [{ demands: [], unmet: 0 }] : [];
	for (const part of condition.conditions) {
		const more = yield* waysToMeet(sets, wish, part);
		if (work.step(ways.length + more.length)) yield;
		ways = isAll ? joined(ways, more) : fewest([...ways, ...more]);
	}
	return ways;
}

function joined(left: readonly Way[], right: readonly Way[]): readonly Way[] {
	return fewest(
		left.flatMap((one) =>
			right.map((other) => ({
				demands: [...one.demands, ...other.demands],
				unmet: one.unmet + other.unmet,
			})),
		),
	);
}

function fewest(ways: readonly Way[]): readonly Way[] {
	return ways.toSorted((left, right) => left.unmet - right.unmet).slice(0, maxWays);
}

/**
 * Returns an attempt that combines a way for each side of the rule; `undefined` if no suitable values are found, and
 * `'too_large'` if the attempt would need too many changes.
 */
function* proposal(
	sets: SetFacts,
	rule: RuleOfSets,
	{ sides, now: before }: { readonly sides: readonly [user: SideWay, resource: SideWay]; readonly now: Subject },
	work: WorkLimit,
): Steps<Attempt | 'too_large' | undefined> {
	const [{ role }] = sides;
	const { check, inTenant } = sets.roles;
	const demands = sides.flatMap((side) => side.demands);
	const wantedRoles = new Set(role === undefined ? [] : [role]);
	for (const { comparison, wanted } of demands) {
		const named = roleAskedFor(comparison);
		if (wanted && named !== undefined) wantedRoles.add(named);
	}
	const { user, tenant } = check;
	const add: AttemptFact[] = [...wantedRoles]
		.filter((wanted) => !inTenant.has(wanted))
		.map((wanted) => ({ fact: 'role_assignment', user, role: wanted, tenant }));
	const onResource = changesOnResource(sets.roles, demands, before);
	const missing = onResource.add.length > 0 ? missingObjects(sets.roles) : missingTenantAndUser(sets.roles);
	add.push(...onResource.add);
	add.unshift(...missing.filter(({ fact }) => fact === 'tenant' || add.length > 0));
	const { remove } = onResource;
	const compare: AttemptComparison[] = [];
	const changed = new Set<string>();
	let subject = yield* sets.subjectWith({ add, remove }, noChanges, work);
	for (const { comparison, wanted } of demands) {
		if (work.step()) yield;
		if ((yield* sets.compare(comparison, subject, work)) === wanted) continue;
		const target = changeable(comparison);
		if (target === undefined || changed.has(attributeText(target))) return undefined;
		const text = attributeText(target);
		const about = demands.filter((demand) => namesAttribute(demand.comparison, text));
		const example = yield* valueThatMeets(sets, { text, about, subject }, work);
		if (example === undefined) return undefined;
		changed.add(text);
		if (add.length + remove.length + changed.size > maxChanges) return 'too_large';
		subject = withAttribute(subject, [text, example]);
		const now = lookUp(before[target.object], target.path) ?? null;
		for (const demand of about) {
			const met = (yield* sets.compare(demand.comparison, before, work)) === demand.wanted;
			compare.push({ ...written(demand), met, change: text, now, example });
		}
	}
	return attemptBy(sets, rule, { add, remove, compare });
}

/**
 * Returns the assignments on the resource to add for required roles, and to remove for excluded roles. Removing a
 * derived role requires changes to other objects, so nothing is proposed for it.
 */
function changesOnResource(roles: RoleFacts, demands: readonly Demand[], now: Subject): FactChanges {
	const { user, tenant, instance } = roles.check;
	const held = textsIn(now.user, 'resource_roles');
	const [add, remove] = [new Map<string, AttemptFact>(), new Map<string, AttemptFact>()];
	for (const { comparison, wanted } of demands) {
		const role = roleRequired(comparison);
		if (role === undefined || instance === undefined) continue;
		const fact: AttemptFact = { fact: 'role_assignment', user, role, tenant, resource_instance: instance };
		if (wanted && !held.includes(role)) add.set(role, fact);
		if (!wanted && roles.assignedOn(instance).has(role)) remove.set(role, fact);
	}
	return { add: [...add.values()], remove: [...remove.values()] };
}

/** Formats a demand for an attempt. */
function written({ set, comparison: { attribute, operator, operand }, wanted }: Demand) {
	return {
		set,
		attribute: attributeText(attribute),
		operator,
		operand: 'ref' in operand ? { ref: attributeText(operand.ref) } : 'value' in operand ? operand.value : null,
		negated: !wanted,
	};
}

/** Returns the tenant role whose assignment makes the comparison true. */
function roleAskedFor({ attribute, operator, operand }: Comparison): string | undefined {
	if (attributeText(attribute) !== 'user.roles' || operator !== 'array_contains' || !('value' in operand))
		return undefined;
	return typeof operand.value === 'string' ? operand.value : undefined;
}

/**
 * Returns the attribute to change: the compared attribute if it can be changed, or else the attribute in the operand's
 * `ref`. Facts, values from the check, and tenant attributes cannot be changed.
 */
function changeable({ attribute, operand }: Comparison): AttributePath | undefined {
	if (isChangeable(attribute)) return attribute;
	return 'ref' in operand && isChangeable(operand.ref) ? operand.ref : undefined;
}

function isChangeable(attribute: AttributePath): boolean {
	return attribute.object !== 'tenant' && !isAsked(attribute);
}

function namesAttribute({ attribute, operand }: Comparison, text: string): boolean {
	return attributeText(attribute) === text || ('ref' in operand && attributeText(operand.ref) === text);
}

interface Search {
	readonly text: string;
	/** All demands on the attribute. */
	readonly about: readonly Demand[];
	/** Subject after the other changes. */
	readonly subject: Subject;
}

/** Returns the first candidate value that satisfies all demands on an attribute. */
function* valueThatMeets(
	sets: SetFacts,
	{ text, about, subject: now }: Search,
	work: WorkLimit,
): Steps<Json | undefined> {
	for (const value of candidateValues(about, text, now)) {
		if (work.step(stepsToTry)) yield;
		const subject = withAttribute(now, [text, value]);
		let meets = true;
		for (const { comparison, wanted } of about) {
			meets &&= (yield* sets.compare(comparison, subject, work)) === wanted;
		}
		if (meets) return value;
	}
	return undefined;
}

/** Steps charged for trying a value. */
const stepsToTry = 10;

/** Maximum number of list items to try. */
const maxItems = 8;

/** Yields candidate values for an attribute: values from its comparisons, and nearby values. */
function* candidateValues(about: readonly Demand[], text: string, subject: Subject): Iterable<Json> {
	const compared = about.flatMap(({ comparison: { attribute, operand } }) => {
		if (attributeText(attribute) !== text) return lookUp(subject[attribute.object], attribute.path) ?? [];
		if ('ref' in operand) return lookUp(subject[operand.ref.object], operand.ref.path) ?? [];
		return 'value' in operand ? [operand.value] : [];
	});
	const lists = compared.flatMap((value) => (Array.isArray(value) ? [value as readonly Json[]] : []));
	const items = lists.flatMap((list) => list.slice(0, maxItems));
	// The first address of a range is in the range.
	const near = [...compared, ...items].flatMap((value): readonly Json[] =>
		typeof value === 'string' ? [value, ...addressIn(value), ...timesAround(value, subject.now)] : [value],
	);
	yield* near;
	for (const value of near) {
		if (typeof value === 'number') yield* [value + 1, value - 1, value + 0.5];
		if (typeof value === 'string') yield* [`${value}a`, `${value}0`, `a${value}`, value.replace(/.$/su, '')];
	}
	const texts = compared.filter((value) => typeof value === 'string');
	if (texts.length > 1) yield* [texts.join(''), texts.toReversed().join('')];
	yield compared.slice(0, maxItems);
	for (const value of near) yield [value];
	yield lists.flat();
	yield* [null, [], {}, 0, 1, '', 'a', true, false];
}

/** Returns the first part of a text like `10.0.0.0/8`. */
function addressIn(text: string): readonly string[] {
	const end = text.indexOf('/');
	return end > 0 ? [text.slice(0, end)] : [];
}

/** Returns the check time and a time longer ago than the duration; empty if the text is not a duration. */
function timesAround(text: string, now: number): readonly string[] {
	const isDuration = durationLength(text) !== undefined;
	return isDuration ? [timeBefore(now, 'PT0S'), timeBefore(now - 1, text)] : [];
}

/** Builds the attempt for a rule. */
function attemptBy(
	{ roles }: SetFacts,
	{ userSet, resourceSet }: RuleOfSets,
	{ add, remove, compare }: FactChanges & { readonly compare: readonly AttemptComparison[] },
): Attempt {
	const { type, action, tenant } = roles.check;
	const sets = conditionSetsIn(roles.facts.schema);
	const role = sets.find('userset', type, userSet)?.standsFor;
	const standsFor = sets.find('resourceset', type, resourceSet)?.standsFor;
	const assigned: AttemptStep[] =
		role === undefined ? [] : [{ type: 'role_assignment', role, resource: `__tenant:${tenant}` }];
	return {
		passed: add.length + remove.length + compare.length === 0,
		by: 'set_rule',
		chain: [
			{
				type: 'set_rule',
				...(role === undefined ? { userset: userSet } : { role }),
				...(standsFor === undefined ? { resourceset: resourceSet } : { resource_type: standsFor }),
			},
			...assigned,
		],
		policy: setRulesPlace(type, action),
		add: [...add],
		remove: [...remove],
		compare: [...compare],
	};
}
