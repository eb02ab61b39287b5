import { grantOf, isSetRelation, isUserSet } from '../../../compiler/user-set.js';
import type { Attempt, AttemptComparison, AttemptFact, AttemptStep } from '../../wire/decision/attempt.js';
import { visible } from '../terminal.js';
import type { Reason } from './reasons.js';
import { tenantPlace } from './tenant-place.js';

/** Decision and its reasons. */
interface Explained {
	readonly allow: boolean;
	readonly code: string;
	readonly reasons: readonly Reason[];
}

/** Attempts through which a check passes, or would pass. */
interface FoundAttempts {
	readonly attempts: readonly Attempt[];
	/** True if there may be more attempts. */
	readonly truncated: boolean;
	/** False if no role and no condition set rule grants the action. */
	readonly granted: boolean;
}

const sources: Readonly<Record<Reason['by'], string>> = {
	tenant_roles: 'roles in the tenant',
	instance_roles: 'roles on the resource',
	condition_sets: 'condition sets',
	pending_policy: 'the policy',
};

/** Formats a decision as human-readable text. An allowed decision without attempts is a single word. */
export function explainedText({ allow, code, reasons }: Explained, found: FoundAttempts | null): string {
	const verdict = allow ? 'allowed' : `denied: ${visible(code)}`;
	const because = reasons.map(({ by, reason }) => `  ${sources[by]}: ${visible(reason)}`);
	const lines = allow && found === null ? [verdict] : [verdict, ...because];
	if (found !== null) lines.push('', ...attemptLines(allow, found));
	return `${lines.join('\n')}\n`;
}

function attemptLines(allow: boolean, { attempts, truncated, granted }: FoundAttempts): readonly string[] {
	if (attempts.length === 0) return [allow ? 'No explanation found.' : noWay(truncated, granted)];
	const title = allow
		? `Allowed by${attempts.length > 1 ? ' each of these' : ''}:`
		: attempts.length > 1
			? 'Any of these changes would allow the check:'
			: 'This change would allow the check:';
	const items = attempts.flatMap((attempt, index) =>
		numbered(index + 1, allow ? passedLines(attempt) : changeLines(attempt)),
	);
	return [title, ...items, ...(truncated ? ['This list may be incomplete.'] : [])];
}

function noWay(truncated: boolean, granted: boolean): string {
	if (!granted) return 'No role and no condition set rule grants this action. Grant the action to a role.';
	return truncated
		? 'Search limit reached. There may be a way to allow this check.'
		: 'No single role, relationship or attribute would allow this check.';
}

/** Numbers the first line and indents the lines below it. */
function numbered(number: number, lines: readonly string[]): readonly string[] {
	const mark = `  ${number}. `;
	return lines.map((line, index) => (index === 0 ? mark : ' '.repeat(mark.length)) + line);
}

function passedLines({ chain, policy }: Attempt): readonly string[] {
	return [...chain.map(stepLine), policyLine(policy)];
}

function changeLines({ chain, add, remove, compare, policy }: Attempt): readonly string[] {
	return [
		...add.map((fact) => `add ${factText(fact)}`),
		...remove.map((fact) => `remove ${factText(fact)}`),
		...compare.filter(({ met }) => !met).map(comparisonLine),
		...(chain.length > 1 || chain[0]?.type === 'set_rule' ? chain.map((step) => `through ${stepLine(step)}`) : []),
		policyLine(policy),
	];
}

function policyLine({ file, rule }: Attempt['policy']): string {
	return `policy: ${visible(file)}, ${visible(rule)}`;
}

function stepLine(step: AttemptStep): string {
	if (step.type === 'set_rule') {
		const who = step.userset === undefined ? `role ${step.role ?? '?'}` : `user set ${step.userset}`;
		const what =
			step.resourceset === undefined ? `resource ${step.resource_type ?? '?'}` : `resource set ${step.resourceset}`;
		return visible(`rule for ${who} on ${what}`);
	}
	const role = `role ${step.role}`;
	if (step.type === 'role_assignment') return visible(`${role}, assigned ${where(step.resource)}`);
	if (step.type === 'computed_role') {
		const without = step.excludes.length === 0 ? '' : ` without ${step.excludes.join(', ')}`;
		return visible(`${role}, computed from the following roles${without}:`);
	}
	if (isSetRelation(step.relation)) {
		return visible(`${role}, assigned to the users in ${grantOf(step.subject, step.relation).user}:`);
	}
	return visible(`${role}, from ${step.subject} (relation ${step.relation} to ${step.resource}):`);
}

function where(resource: string): string {
	const tenant = tenantPlace(resource);
	return tenant === null ? `on ${resource}` : `in tenant ${tenant}`;
}

function factText(fact: AttemptFact): string {
	switch (fact.fact) {
		case 'tenant':
			return visible(`tenant ${fact.tenant}`);
		case 'user':
			return visible(`user ${fact.user}`);
		case 'resource_instance':
			return visible(`instance ${fact.resource_instance} in tenant ${fact.tenant}`);
		case 'role_assignment': {
			const place = fact.resource_instance === undefined ? `in tenant ${fact.tenant}` : `on ${fact.resource_instance}`;
			const who = isUserSet(fact.user) ? `the users in ${fact.user}` : `user ${fact.user}`;
			return visible(`role ${fact.role} for ${who} ${place}`);
		}
		case 'relationship_tuple':
			return visible(`relationship: ${fact.subject} as ${fact.relation} of ${fact.object}`);
	}
}

function comparisonLine({
	set,
	attribute,
	operator,
	operand,
	negated,
	change,
	now,
	example,
}: AttemptComparison): string {
	const condition = `${negated ? 'not ' : ''}${attribute} ${operator} ${JSON.stringify(operand)}`;
	const value = example === null ? 'without it' : `such as ${JSON.stringify(example)}`;
	// The context is not stored: the caller sends it with the check.
	const verb = change.startsWith('context.') ? 'send' : 'change';
	return visible(`${verb} ${change} (now ${JSON.stringify(now)}; ${value}) so that ${condition}, for set ${set}`);
}
