import { grantOf, isSetRelation, isUserSet } from '../../../../compiler/user-set.js';
import { operatorNamed } from '../condition/condition-operator.js';
import type { Phrase } from '../phrase.js';
import {
	type Attempt,
	type AttemptComparison,
	type AttemptFact,
	type AttemptStep,
	type DecisionDebug,
	placeTenant,
	roleKey,
} from './attempt.js';
import { heldRolePhrases } from './role-source.js';

/** Texts for attempts: the path by which a check passes or would pass, and the missing facts. */

/** Names for a check in sentences. */
export interface NamedCheck {
	readonly user: string;
	readonly action: string;
	readonly type: string;
	/** Instance, as `<type>:<key>`; `null` for a check without an instance. */
	readonly instance: string | null;
}

/**
 * Formats an attempt as a sentence without a final period, such as "ann is `editor` in tenant acme, and `editor` grants
 * `read` on `document`". Missing facts are in the conditional.
 */
export function attemptSentence(attempt: Attempt, check: NamedCheck): readonly Phrase[] {
	const [first] = attempt.chain;
	if (first === undefined) return ['the check passes'];
	if (first.type === 'set_rule') return ruleSentence(first, attempt, check);
	return roleSentence(attempt, check);
}

/** Formats an attempt that includes a computed role: the assigned roles, the granting role, and the action. */
function computedSentence(
	{ role, resource }: Exclude<AttemptStep, { readonly type: 'set_rule' }>,
	{ chain, add }: Pick<Attempt, 'chain' | 'add'>,
	{ user, action }: Pick<NamedCheck, 'user' | 'action'>,
): readonly Phrase[] {
	const isMissing = add.length > 0 ? ' would be ' : ' is ';
	const assigned = chain.flatMap((step) => (step.type === 'role_assignment' ? [step] : []));
	return [
		{ key: user },
		isMissing,
		...assigned.flatMap((step, index) => [...(index === 0 ? [] : [' and ']), ...heldPhrases(step)]),
		'; so ',
		{ key: user },
		isMissing,
		{ name: roleKey(role, resource) },
		' on ',
		{ key: resource },
		', which grants ',
		{ name: action },
	];
}

function roleSentence({ chain, add }: Attempt, { user, action, type }: NamedCheck): readonly Phrase[] {
	const assigned = chain.at(-1);
	const granting = chain[0];
	if (assigned === undefined || assigned.type === 'set_rule') return [];
	if (granting === undefined || granting.type === 'set_rule') return [];
	if (chain.some(({ type }) => type === 'computed_role')) {
		return computedSentence(granting, { chain, add }, { user, action });
	}
	const isMissing = add.some((fact) => fact.fact === 'role_assignment' && !isUserSet(fact.user));
	const derived = chain
		.slice(0, -1)
		.toReversed()
		.flatMap((step) => derivationPhrases(step, add));
	const grants: readonly Phrase[] = [{ name: roleKey(granting.role, granting.resource) }, ' on '];
	return [
		{ key: user },
		isMissing ? ' would be ' : ' is ',
		...heldPhrases(assigned),
		...derived,
		...(derived.length === 0
			? [', and ', { name: roleKey(assigned.role, assigned.resource) }]
			: [
					'; so ',
					{ key: user },
					add.length > 0 ? ' would be ' : ' is ',
					...grants,
					{ key: granting.resource },
					', which',
				]),
		' grants ',
		{ name: action },
		...(placeTenant(assigned.resource) === null ? [] : [' on ', { name: type }]),
	];
}

/** Formats a role and its place, such as "`editor` on folder:plans" or "`editor` in tenant acme". */
function heldPhrases({ role, resource }: Extract<AttemptStep, { readonly role: string; readonly resource: string }>) {
	const tenant = placeTenant(resource);
	const place: readonly Phrase[] = tenant === null ? [' on ', { key: resource }] : [' in tenant ', { key: tenant }];
	return [{ name: roleKey(role, resource) }, ...place];
}

function derivationPhrases(step: AttemptStep, add: readonly AttemptFact[]): readonly Phrase[] {
	if (step.type !== 'role_derivation') return [];
	const { subject, relation, resource } = step;
	if (isSetRelation(relation)) {
		const { user: set, role } = grantOf(subject, relation);
		const isAdded = add.some(
			(fact) => fact.fact === 'role_assignment' && fact.user === set && fact.resource_instance === resource,
		);
		return [', and ', { key: set }, isAdded ? ' would be ' : ' is ', { name: role }, ' on ', { key: resource }];
	}
	const isMissing = add.some(
		(fact) =>
			fact.fact === 'relationship_tuple' &&
			fact.subject === subject &&
			fact.relation === relation &&
			fact.object === resource,
	);
	return [
		isMissing ? ', which would have the relation ' : ', which has the relation ',
		{ name: relation },
		' to ',
		{ key: resource },
	];
}

function ruleSentence(
	step: Extract<AttemptStep, { readonly type: 'set_rule' }>,
	{ add, remove, compare, chain }: Attempt,
	{ user, action, type, instance }: NamedCheck,
): readonly Phrase[] {
	const thing: readonly Phrase[] = instance === null ? ['this ', { name: type }] : [{ key: instance }];
	const isChanged = (set: string | undefined, side: string) =>
		compare.some((one) => !one.met && (one.set === set || one.change.startsWith(side)));
	const place = chain[1] !== undefined && chain[1].type !== 'set_rule' ? placeTenant(chain[1].resource) : null;
	const who: readonly Phrase[] =
		step.userset === undefined
			? [
					add.some(({ fact }) => fact === 'role_assignment') ? ' would be ' : ' is ',
					{ name: step.role ?? '' },
					...(place === null ? [' in the tenant'] : [' in tenant ', { key: place }]),
				]
			: [
					isChanged(step.userset, 'user.') || [...add, ...remove].some(({ fact }) => fact === 'role_assignment')
						? ' would be in '
						: ' is in ',
					'the user set ',
					{ name: step.userset },
				];
	const what: readonly Phrase[] =
		step.resourceset === undefined
			? [' is a ', { name: step.resource_type ?? type }]
			: [
					isChanged(step.resourceset, 'resource.') ? ' would be in ' : ' is in ',
					'the resource set ',
					{ name: step.resourceset },
				];
	return [
		{ key: user },
		...who,
		', ',
		...thing,
		...what,
		', and a rule grants ',
		{ name: action },
		' on these resources to these users',
	];
}

/** Formats a fact as the object of "add" or "remove", such as "ann as `editor` in tenant acme". */
export function factWords(fact: AttemptFact): readonly Phrase[] {
	switch (fact.fact) {
		case 'tenant':
			return ['tenant ', { key: fact.tenant }];
		case 'user':
			return ['user ', { key: fact.user }];
		case 'resource_instance':
			return [{ key: fact.resource_instance }, ' in tenant ', { key: fact.tenant }];
		case 'role_assignment':
			return [
				{ key: fact.user },
				' as ',
				{ name: fact.role },
				...(fact.resource_instance === undefined
					? [' in tenant ', { key: fact.tenant }]
					: [' on ', { key: fact.resource_instance }]),
			];
		case 'relationship_tuple':
			return [{ key: fact.subject }, ' as ', { name: fact.relation }, ' of ', { key: fact.object }];
	}
}

/** Returns the reason for removing a blocking fact. */
export function stopWords({ by, chain }: Pick<Attempt, 'by' | 'chain'>, fact: AttemptFact): string {
	if (by === 'set_rule') return 'A user set excludes this role.';
	const excludes = chain.flatMap((step) => (step.type === 'computed_role' ? step.excludes : []));
	return fact.fact === 'role_assignment' && excludes.includes(fact.role)
		? 'A computed role excludes this role.'
		: 'It blocks a derived role on this instance.';
}

/**
 * Formats a role that denies the check, such as "ann is `blocked` on document:budget, and a user set or a computed
 * role excludes users with this role."
 */
export function blockingWords(user: string, name: string): readonly Phrase[] {
	return [
		{ key: user },
		' is ',
		...heldRolePhrases(name),
		', and a user set or a computed role excludes users with this role.',
	];
}

/** Returns an operator's phrase, such as "is at least" or "contains", for use after "must". */
function operatorWords(name: string): string {
	const label = operatorNamed(name)?.label ?? `satisfies ${name}`;
	const [verb = '', ...rest] = label.split(' ');
	return [infinitives[verb] ?? verb.slice(0, -1), ...rest].join(' ');
}

/** Irregular infinitives, for which dropping the "s" of the verb is not enough. */
const infinitives: Readonly<Record<string, string>> = { is: 'be', has: 'have', matches: 'match', satisfies: 'satisfy' };

/** Formats a comparison: "`user.level` is 2; it must be at least 3, for condition set `seniors`". */
export function comparisonWords({
	set,
	attribute,
	operator,
	operand,
	negated,
	change,
	now,
}: AttemptComparison): readonly Phrase[] {
	const must = negated ? ' must not ' : ' must ';
	const demand: readonly Phrase[] =
		operator === 'is-null'
			? [must, operand === false ? 'be set' : 'be missing or null']
			: [must, operatorWords(operator), ' ', operandPhrase(operand)];
	const current: readonly Phrase[] =
		now === null || now === undefined ? [' is missing'] : [' is ', { name: valueText(now) }];
	return [
		{ name: change },
		...current,
		'; ',
		...(change === attribute ? ['it'] : [{ name: attribute }]),
		...demand,
		', for condition set ',
		{ name: set },
	];
}

/** Formats the new value for an attribute. */
export function exampleWords({ change, example }: AttemptComparison): readonly Phrase[] {
	return example === null || example === undefined
		? ['without ', { name: change }]
		: [{ name: change }, ' = ', { name: valueText(example) }];
}

function operandPhrase(operand: unknown): Phrase {
	if (typeof operand === 'object' && operand !== null && 'ref' in operand) return { name: String(operand.ref) };
	return { name: valueText(operand) };
}

const maxValueLength = 200;

/** Formats a value as JSON. Truncates a long value. */
export function valueText(value: unknown): string {
	const text = JSON.stringify(value) ?? 'null';
	return text.length <= maxValueLength ? text : `${text.slice(0, maxValueLength)}…`;
}

/** Returns the title above a check's attempts. */
export function attemptsTitle(
	allow: boolean,
	count: number,
	{ truncated, granted }: Pick<DecisionDebug, 'truncated' | 'granted'>,
): string {
	if (count > 0)
		return count === 1
			? allow
				? 'Allowed by'
				: 'This change would allow the check'
			: allow
				? 'Allowed by each of these'
				: 'Any of these changes would allow the check';
	if (allow) return 'No explanation found';
	if (granted === false) return 'No role and no rule grants this action';
	return truncated
		? 'Search limit reached. There may be a way to allow this check.'
		: 'No single role, relationship or attribute would allow the check';
}
