import type { AttributePath, Condition } from '../../../compiler/condition/condition.js';
import { lookUp } from '../../../compiler/condition/value.js';
import type { Json } from '../../../compiler/model.js';
import { Failure } from '../../failure.js';
import { type InstanceRow, instancesNamed } from '../../store/table/resource-instance.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { instanceName } from '../../wire/common.js';
import { asJson, type RelatedInstances, type Subject } from './condition-subject.js';

/** Maximum total number of instances that the subjects' attributes may name. */
const maxRelated = 10_000;

/** An attribute whose values are keys of instances. */
interface KeyAttribute {
	readonly attribute: AttributePath;
	readonly type: string;
}

/**
 * Adds to each subject the instances that conditions read through `fk_resource_type`. Throws `limit_reached` if the
 * subjects name too many instances.
 */
export async function withRelated(
	unit: ReadingUnit,
	conditions: readonly Condition[],
	subjects: readonly Subject[],
): Promise<readonly Subject[]> {
	const attributes = conditions.flatMap(keyAttributes);
	if (attributes.length === 0) return subjects;
	const names = new Set(subjects.flatMap((subject) => attributes.flatMap((one) => namesIn(subject, one))));
	if (names.size > maxRelated) {
		throw new Failure('limit_reached', `the conditions read more than ${maxRelated} related instances: preview fewer`);
	}
	const byTenant = new Map<string, Map<string, Json>>();
	for (const row of [...(await instancesNamed(unit, names)).values()].flat()) add(byTenant, row);
	return subjects.map((subject) => ({ ...subject, related: byTenant.get(String(subject.tenant['key'])) ?? none }));
}

const none: RelatedInstances = new Map();

function add(byTenant: Map<string, Map<string, Json>>, { resource, key, tenant, attributes }: InstanceRow): void {
	const instances = byTenant.get(tenant) ?? new Map<string, Json>();
	byTenant.set(tenant, instances.set(instanceName(resource, key), asJson(attributes)));
}

function keyAttributes(condition: Condition): readonly KeyAttribute[] {
	if (condition.kind === 'not') return keyAttributes(condition.condition);
	if (condition.kind !== 'comparison') return condition.conditions.flatMap(keyAttributes);
	const { attribute, operand } = condition;
	return 'match' in operand && operand.related !== undefined ? [{ attribute, type: operand.related }] : [];
}

function namesIn(subject: Subject, { attribute: { object, path }, type }: KeyAttribute): readonly string[] {
	if (object === 'now' || object === 'grant') return [];
	const value = lookUp(asJson(subject[object]), path);
	const keys: readonly Json[] = Array.isArray(value) ? value : [value ?? null];
	return keys.flatMap((key) => (typeof key === 'string' ? [instanceName(type, key)] : []));
}
