import type { Condition } from '../../compiler/condition/condition.js';
import { attributesIn } from '../../compiler/condition/grammar.js';
import { ancestorSetIds, type ConditionSet, conditionSetsWithIds } from '../store/table/condition-set.js';
import { Resource } from '../store/table/resource.js';
import type { ReadingUnit } from '../store/unit.js';
import type { AskedSet } from '../wire/condition-preview.js';
import { attributesDefined, conditionOf, conditionProblems } from './condition-check.js';
import { findConditionSet, parentProblems, refuse, resourceProblems } from './condition-set.js';

/** What is asked about: a set, stored or not, with those that it narrows. */
export interface AskedSelection {
	readonly type: ConditionSet['type'];
	/** Whose instances a resource set selects; `null` for user sets. */
	readonly resource: Resource | null;
	readonly own: Condition;
	/** The nearest first. */
	readonly ancestors: readonly { readonly key: string; readonly condition: Condition }[];
}

/** Finds and checks what is asked about. Throws as `createConditionSet`. */
export async function selectionOf(unit: ReadingUnit, asked: AskedSet): Promise<AskedSelection> {
	const stored = asked.condition_set === undefined ? null : await findConditionSet(unit, asked.condition_set);
	const { type, resource } = await subjectsOf(unit, stored, asked);
	const parent = await parentOf(unit, stored, asked);
	const resource_id = resource?.id ?? null;
	const checked = { type, ...(type === 'resourceset' && resource_id === null ? {} : { resource_id }) };
	const { conditions = stored?.conditions ?? {} } = asked;
	refuse([
		...resourceProblems(type, resource_id, asked.resource_id),
		...(parent === null || asked.parent_id === undefined ? [] : parentProblems(parent, checked)),
		...(asked.conditions === undefined
			? []
			: conditionProblems(await attributesDefined(unit), { ...checked, conditions }, ['body', 'conditions'])),
	]);
	const above = parent === null ? [] : [parent, ...(await ancestorsOf(unit, parent))];
	return {
		...{ type, resource },
		own: conditionOf({ key: stored?.key ?? '', type, conditions }),
		ancestors: above.map((set) => ({ key: set.key, condition: conditionOf(set) })),
	};
}

/** Whether any of the conditions names something that only assignments tell. */
export function asksForRoles({ own, ancestors }: AskedSelection): boolean {
	const named = [own, ...ancestors.map(({ condition }) => condition)].flatMap(attributesIn);
	return named.some(({ object, path: [name = ''] }) => {
		return object === 'tenant' || (object === 'user' && ['roles', 'tenants'].includes(name));
	});
}

async function subjectsOf(unit: ReadingUnit, stored: ConditionSet | null, asked: AskedSet) {
	const reference = stored === null ? asked.resource_id : (stored.resource_id ?? undefined);
	const resource = reference === undefined ? null : await unit.find(Resource, reference);
	return { type: stored?.type ?? asked.type ?? ('userset' as const), resource };
}

async function parentOf(unit: ReadingUnit, stored: ConditionSet | null, asked: AskedSet): Promise<ConditionSet | null> {
	const reference = asked.parent_id ?? stored?.parent_id ?? null;
	return reference === null ? null : findConditionSet(unit, reference, stored?.type ?? asked.type);
}

async function ancestorsOf(unit: ReadingUnit, set: ConditionSet): Promise<readonly ConditionSet[]> {
	const ids = await ancestorSetIds(unit, set.id);
	const rows = new Map((await conditionSetsWithIds(unit, ids)).map((row) => [row.id, row]));
	return ids.flatMap((id) => rows.get(id) ?? []);
}
