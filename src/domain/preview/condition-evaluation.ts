import type { Condition } from '../../../compiler/condition/condition.js';
import { explainCondition } from '../../../compiler/condition/explain-condition.js';
import { unprocessable } from '../../failure.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { instanceParts } from '../../wire/common.js';
import type { ConditionEvaluation, ConditionEvaluationRead } from '../../wire/condition-preview.js';
import { matchesPattern } from '../pattern.js';
import { type AskedSelection, resolveSelection } from './condition-selection.js';
import { asJson, readSides, type Subject, tenantRecord } from './condition-subject.js';

/**
 * Tells whether a set selects one user or resource instance, and why: its own conditions and those of every set that it
 * narrows. Throws as `resolveSelection` and `readSides`, and `unprocessable` for an instance of another resource.
 */
export async function evaluateConditions(
	unit: ReadingUnit,
	body: ConditionEvaluation,
): Promise<ConditionEvaluationRead> {
	const selection = await resolveSelection(unit, body);
	const { tenant, user, held, resource, context } = await readSides(unit, body, selection.resource?.key);
	refuseForeignInstance(selection, resource['type'], body);
	const known = body.user === undefined && tenant !== null ? { ...held, tenants: [tenant.key] } : held;
	const subject = { user, resource, tenant: tenantRecord(tenant, known), context };
	const own = explain(selection.own, subject);
	const ancestors = selection.ancestors.map(({ key, condition }) => ({ key, ...explain(condition, subject) }));
	return { ...own, matches: [own, ...ancestors].every(({ matches }) => matches), ancestors };
}

function explain(condition: Condition, subject: Subject) {
	const { user, resource, tenant, context } = subject;
	const sides = { user: asJson(user), resource: asJson(resource), tenant: asJson(tenant), context: asJson(context) };
	const trace = explainCondition(condition, sides, matchesPattern);
	return { matches: trace.holds === true, trace: { ...trace } };
}

function refuseForeignInstance({ resource }: AskedSelection, type: unknown, body: ConditionEvaluation): void {
	if (resource === null || type === undefined || type === resource.key) return;
	const named = instanceParts(body.resource?.key ?? '')?.resource ?? type;
	const msg = `must be an instance of \`${resource.key}\`, the resource of the set, got one of \`${named}\``;
	throw unprocessable([{ loc: ['body', 'resource'], msg, type: 'other_resource' }]);
}
