import { type Circle, circlesOf, mostLeadingIn } from '../../compiler/circle.js';
import { Failure } from '../failure.js';
import { groupBy } from '../group-by.js';
import { type InstanceRow, instancesBy } from '../store/table/resource-instance.js';
import { Role } from '../store/table/role.js';
import { derivationsOf } from '../store/table/role-derivation.js';
import type { ReadingUnit } from '../store/unit.js';
import {
	type DerivationStep,
	derivationsUpstream,
	instancesDownstream,
	type StepIds,
	tuplesAlong,
	tuplesUpstream,
} from '../store/way.js';
import { instanceName } from '../wire/common.js';
import { crowdIn } from './crowd.js';
import { only } from './only.js';

/**
 * Where roles are derived in circles (a folder in a folder), very many roles on instances may lead to one. Decisions
 * look at `mostLeadingIn` a circle of them, so no write may make there be more: all of these refuse the whole
 * write with `limit_reached`. They look at what a unit has written, before it ends.
 */

/** Refuses relationships that were made when too many roles lead to one through them. */
export async function refuseCrowds(unit: ReadingUnit, made: readonly StepIds[]): Promise<void> {
	const relation_ids = [...new Set(made.map(({ relation_id }) => relation_id))];
	if (relation_ids.length === 0) return;
	const steps = await derivationsUpstream(unit, { relation_ids });
	const circles = circlesIn(steps).filter((circle) => relationsOf([circle]).some((id) => relation_ids.includes(id)));
	if (circles.length === 0) return;
	const along = relationsOf(circles);
	const objects = made.filter(({ relation_id }) => along.includes(relation_id)).map(({ object_id }) => object_id);
	const affected = await instancesDownstream(unit, along, [...new Set(objects)]);
	await refuseIn(unit, circles, await tuplesUpstream(unit, { relationIds: along }, affected));
}

/** Refuses what these roles are derived from when too many roles lead to one through it. */
export async function refuseCrowdsInto(unit: ReadingUnit, roleIds: readonly string[]): Promise<void> {
	if (roleIds.length > 0) await refuseAll(unit, await derivationsUpstream(unit, { role_ids: roleIds }));
}

/** Refuses all that an environment holds when too many roles lead to one anywhere. */
export async function refuseEveryCrowd(unit: ReadingUnit): Promise<void> {
	const derived = (await derivationsOf(unit)).map(({ role_id }) => role_id);
	await refuseCrowdsInto(unit, [...new Set(derived)]);
}

async function refuseAll(unit: ReadingUnit, steps: readonly DerivationStep[]): Promise<void> {
	const circles = circlesIn(steps);
	if (circles.length > 0) await refuseIn(unit, circles, await tuplesAlong(unit, relationsOf(circles)));
}

/** The circles among these derivations. All keys are ids: so one type holds all roles, and no relation has two. */
function circlesIn(steps: readonly DerivationStep[]): readonly Circle[] {
	const unnamed = { name: '', description: null };
	const derivations = groupBy(steps, ({ role_id }) => role_id);
	const roleIds = [...new Set(steps.flatMap(({ role_id, source_role_id }) => [role_id, source_role_id]))];
	const roles = roleIds.map((key) => {
		const given = (derivations.get(key) ?? []).map(({ relation_id, source_role_id, no_direct_roles_on_object }) => {
			return { relation: relation_id, role: source_role_id, no_direct_roles_on_object };
		});
		return { key, ...unnamed, permissions: [], extends: [], derivations: given, no_direct_roles_on_object: false };
	});
	const relationIds = [...new Set(steps.map(({ relation_id }) => relation_id))];
	const relations = relationIds.map((key) => ({ key, ...unnamed, subject: '' }));
	return circlesOf({
		condition_sets: [],
		set_rules: [],
		resources: [{ key: '', ...unnamed, actions: [], roles, relations }],
		roles: [],
	});
}

function relationsOf(circles: readonly Circle[]): readonly string[] {
	return [...new Set(circles.flatMap(({ edges }) => edges.map(({ relation }) => relation)))];
}

async function refuseIn(unit: ReadingUnit, circles: readonly Circle[], tuples: readonly StepIds[]): Promise<void> {
	for (const circle of circles) {
		const most = mostLeadingIn(circle);
		const crowded = crowdIn(circle, tuples, most);
		if (crowded === null) continue;
		const role = await unit.find(Role, crowded.role_id);
		const { resource, key } = only(await instancesBy(unit, { ids: [crowded.instance_id] }).castTo<InstanceRow[]>());
		throw new Failure(
			'limit_reached',
			`the role \`${role.key}\` on \`${instanceName(resource, key)}\` would be derived, in a circle, from more than ` +
				`${most} roles on instances, which is the limit`,
			{ role: role.key, resource_instance: instanceName(resource, key), limit: most },
		);
	}
}
