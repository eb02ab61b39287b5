import type { Condition } from '../../../compiler/condition/condition.js';
import { attributesIn } from '../../../compiler/condition/parse/grammar.js';
import { unprocessable } from '../../failure.js';
import { ancestorSetIds, type ConditionSet, conditionSetsWithIds } from '../../store/table/condition-set.js';
import { Resource } from '../../store/table/resource.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { AskedSet } from '../../wire/schema/condition-preview.js';
import { conditionProblems, parseStoredCondition } from '../schema/condition-check.js';
import { findConditionSet, parentProblems, refuseProblems, resourceProblems } from '../schema/condition-set.js';

/** The set to preview, stored or not, and its ancestors. */
export interface AskedSelection {
	readonly type: ConditionSet['type'];
	/** The resource of a resource set, or of a user set that names roles; `null` for other user sets. */
	readonly resource: Resource | null;
	readonly own: Condition;
	/** The ancestors, nearest first. */
	readonly ancestors: readonly { readonly key: string; readonly condition: Condition }[];
}

/** Finds and checks the requested set. Throws like `createConditionSet`. */
export async function resolveSelection(unit: ReadingUnit, asked: AskedSet): Promise<AskedSelection> {
	const stored = asked.condition_set === undefined ? null : await findConditionSet(unit, asked.condition_set);
	const { type, resource } = await findSubject(unit, stored, asked);
	if (type === 'grant') {
		const msg =
			'a set of type `grant` has no preview: its result depends on the values in each assignment or relationship';
		throw unprocessable([{ loc: ['body', stored === null ? 'type' : 'condition_set'], msg, type: 'not_supported' }]);
	}
	const parent = await findParent(unit, stored, asked);
	const resource_id = resource?.id ?? null;
	const checked = { type, ...(type === 'resourceset' && resource_id === null ? {} : { resource_id }) };
	const { conditions = stored?.conditions ?? {} } = asked;
	refuseProblems([
		...(stored === null ? resourceProblems({ type, conditions, resource_id }, asked) : []),
		...(parent === null || asked.parent_id === undefined ? [] : parentProblems(parent, checked)),
		...(asked.conditions === undefined
			? []
			: await conditionProblems(unit, { ...checked, conditions }, ['body', 'conditions'])),
	]);
	const above = parent === null ? [] : [parent, ...(await findAncestors(unit, parent))];
	return {
		type,
		resource,
		own: parseStoredCondition({ key: stored?.key ?? '', type, conditions, resource_id }),
		ancestors: above.map((set) => ({ key: set.key, condition: parseStoredCondition(set) })),
	};
}

/** True if any condition needs role assignments. */
export function asksForRoles({ own, ancestors }: AskedSelection): boolean {
	const named = [own, ...ancestors.map(({ condition }) => condition)].flatMap(attributesIn);
	return named.some(({ object, path: [name = ''] }) => {
		return object === 'tenant' || (object === 'user' && ['roles', 'tenants'].includes(name));
	});
}

async function findSubject(unit: ReadingUnit, stored: ConditionSet | null, asked: AskedSet) {
	const reference = stored === null ? asked.resource_id : (stored.resource_id ?? undefined);
	const resource = reference === undefined ? null : await unit.find(Resource, reference);
	return { type: stored?.type ?? asked.type ?? ('userset' as const), resource };
}

async function findParent(
	unit: ReadingUnit,
	stored: ConditionSet | null,
	asked: AskedSet,
): Promise<ConditionSet | null> {
	const reference = asked.parent_id ?? stored?.parent_id ?? null;
	return reference === null ? null : findConditionSet(unit, reference, stored?.type ?? asked.type);
}

async function findAncestors(unit: ReadingUnit, set: ConditionSet): Promise<readonly ConditionSet[]> {
	const ids = await ancestorSetIds(unit, set.id);
	const rows = new Map((await conditionSetsWithIds(unit, ids).all()).map((row) => [row.id, row]));
	return ids.flatMap((id) => rows.get(id) ?? []);
}
