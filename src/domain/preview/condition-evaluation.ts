import { unprocessable } from '../../failure.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { instanceParts } from '../../wire/common.js';
import type { ConditionEvaluation, ConditionEvaluationRead } from '../../wire/schema/condition-preview.js';
import { type AskedSelection, resolveSelection } from './condition-selection.js';
import { readSides, tenantRecord } from './condition-subject.js';
import { explainConditions } from './condition-thread.js';
import { withRelated } from './related-instances.js';
import { rolesHeldOn, rolesNamed } from './resource-roles.js';

/**
 * Evaluates a set for a user or resource instance. Explains the result for the set's conditions and for its ancestors'
 * conditions. Throws like `resolveSelection`, `readSides`, `rolesHeldOn` and `explainConditions`, and `unprocessable`
 * for an instance of the wrong resource.
 */
export async function evaluateConditions(
	unit: ReadingUnit,
	body: ConditionEvaluation,
): Promise<ConditionEvaluationRead> {
	const selection = await resolveSelection(unit, body);
	const { tenant, user, held, resource, context, now, stored } = await readSides(unit, body, selection.resource?.key);
	refuseForeignInstance(selection, resource['type'], body);
	const known = body.user === undefined && tenant !== null ? { ...held, tenants: [tenant.key] } : held;
	const named = rolesNamed(selection);
	const resource_roles =
		named.length === 0 || stored.instance === undefined
			? []
			: await rolesHeldOn(unit, named, stored.user?.id, stored.instance);
	const alone = {
		user: named.length === 0 ? user : { ...user, resource_roles },
		resource,
		tenant: tenantRecord(tenant, known),
		context,
		now,
	};
	const { own, ancestors } = selection;
	const conditions = [own, ...ancestors.map(({ condition }) => condition)];
	const [subject = alone] = await withRelated(unit, conditions, [alone]);
	const traces = await explainConditions(conditions, subject);
	const [explained, ...above] = traces.map((trace) => ({ matches: trace.holds === true, trace: { ...trace } }));
	if (explained === undefined) throw new Error('the conditions of the set itself are not explained');
	return {
		...explained,
		matches: traces.every(({ holds }) => holds === true),
		ancestors: above.map((one, index) => ({ key: ancestors[index]?.key ?? '', ...one })),
	};
}

function refuseForeignInstance({ resource }: AskedSelection, type: unknown, body: ConditionEvaluation): void {
	if (resource === null || type === undefined || type === resource.key) return;
	const named = instanceParts(body.resource?.key ?? '')?.resource ?? type;
	const msg = `must be an instance of the set's resource \`${resource.key}\`, got an instance of \`${named}\``;
	throw unprocessable([{ loc: ['body', 'resource'], msg, type: 'other_resource' }]);
}
