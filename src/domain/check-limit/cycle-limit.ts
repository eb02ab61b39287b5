import { type Cycle, maxLeadingIn } from '../../../compiler/cycle.js';
import { Failure } from '../../failure.js';
import { nextTurn } from '../../limit/next-turn.js';
import { type CheckBound, storeCheckBound, storedCheckBound } from '../../store/model/check-bound.js';
import {
	anyTuple,
	computedRoleIds,
	derivationsWith,
	instancesDownstream,
	leadingOn,
	type StepIds,
	tuplePortions,
	tuplesUpstream,
} from '../../store/model/graph-walk.js';
import { onlyRow } from '../../store/query/only-row.js';
import { instancesBy } from '../../store/table/resource-instance.js';
import { Role } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { instanceName } from '../../wire/common.js';
import { Derivations, maxSteps, type Steps, Upstream } from './check-steps.js';
import { refuseConditionsOverLimit, stepsOfSets } from './condition-limit.js';
import { findFanInAbove, type InstanceRole } from './fan-in.js';

/**
 * A check walks all relationships upstream of its instance. To keep checks fast, these functions reject any write that
 * makes the walk too long, with `limit_reached`. They read the written data before the unit ends. The first limit is
 * the number of roles from which a role is derived within a cycle (decision 0014). The second limit is the number of
 * steps in a check (decision 0028).
 */

/** Maximum number of downstream instances to examine individually. */
const maxExamined = 2_000;

/** Bound that applies until a greater bound is stored. Writes below it neither read nor store a bound. */
const usualBound: CheckBound = { steps: 5_000, closures: 500 };

/** Rejects new relationships that would make a check too long. */
export async function refuseTuplesOverLimit(unit: WritingUnit, made: readonly StepIds[]): Promise<void> {
	const relationIds = [...new Set(made.map(({ relation_id }) => relation_id))];
	if (relationIds.length === 0) return;
	const derivations = await readDerivations(unit, relationIds);
	const along = derivations.relationIds;
	const counted = made.filter(({ relation_id }) => along.includes(relation_id));
	if (counted.length === 0) return;
	const objects = [...new Set(counted.map(({ object_id }) => object_id))];
	const affected = await instancesDownstream(unit, along, objects, maxExamined);
	const isAll = affected.length <= maxExamined;
	const tuples = await tuplesUpstream(unit, { relationIds: along }, isAll ? affected : objects);
	await refuseCycles(unit, derivations, counted, isAll ? tuples : null);
	const upstream = await createUpstream(unit, derivations);
	upstream.add(tuples);
	if (isAll) {
		await raiseKeptBound(unit, await greatestBound(unit, derivations, upstream, affected));
		return;
	}
	await refuseByBound(unit, derivations, upstream, objects);
}

async function readDerivations(unit: ReadingUnit, relationIds: readonly string[] | 'all'): Promise<Derivations> {
	const rules = await derivationsWith(unit, relationIds);
	return new Derivations(rules, rules.length === 0 ? [] : await computedRoleIds(unit));
}

async function createUpstream(unit: ReadingUnit, derivations: Derivations): Promise<Upstream> {
	const isConditional = derivations.rules.some(({ conditional }) => conditional);
	return new Upstream(derivations, isConditional ? await stepsOfSets(unit) : new Map());
}

/**
 * Rejects computed roles that would make a check too long. A check looks up their operands again, so all relationships
 * with derivations are examined.
 */
export async function refuseComputedOverLimit(unit: WritingUnit): Promise<void> {
	const derivations = await readDerivations(unit, 'all');
	if (await anyTuple(unit, derivations.relationIds)) await recomputeBound(unit, derivations);
	await refuseConditionsOverLimit(unit, 'all');
}

/**
 * Rejects the derivations of these roles if they would make a check too long. If neither these roles nor roles derived
 * from them have relationships to follow, no check changes. New types and roles therefore cost nothing.
 */
export async function refuseRolesOverLimit(unit: WritingUnit, roleIds: readonly string[]): Promise<void> {
	if (roleIds.length === 0) return;
	const rules = await derivationsWith(unit, 'all');
	const computed = await computedRoleIds(unit);
	const downstream = new Set(roleIds);
	// The iteration includes ids added during the loop.
	for (const id of downstream) {
		for (const { role_id, source_role_id } of rules) if (source_role_id === id) downstream.add(role_id);
		for (const { role_id, operand_ids } of computed) if (operand_ids.includes(id)) downstream.add(role_id);
	}
	const relationIds = rules.filter(({ role_id }) => downstream.has(role_id)).map(({ relation_id }) => relation_id);
	if (await anyTuple(unit, relationIds)) await recomputeBound(unit, new Derivations(rules, computed));
	await refuseConditionsOverLimit(unit, 'all');
}

/**
 * Rejects relations that would make a check too long, because they start or stop declaring conditions, or because their
 * conditions changed. Also rejects conditional assignments over the limit.
 */
export async function refuseRelationsOverLimit(unit: WritingUnit, relationIds: readonly string[]): Promise<void> {
	if (relationIds.length > 0) {
		const derivations = await readDerivations(unit, relationIds);
		// Declared conditions also change how a check visits the other relations in the cycle.
		if (await anyTuple(unit, derivations.relationIds)) await recomputeBound(unit, derivations);
	}
	await refuseConditionsOverLimit(unit, 'all');
}

/** Rejects an environment over the limit. Use it after a large part of the environment has changed. */
export async function refuseEnvironmentOverLimit(unit: WritingUnit): Promise<void> {
	await refuseConditionsOverLimit(unit, 'all');
	const derivations = await readDerivations(unit, 'all');
	if (derivations.relationIds.length === 0) return;
	await recomputeBound(unit, derivations);
}

/**
 * Checks relationships with too many downstream instances to examine individually. It adds the new steps to the stored
 * bound, which no existing check exceeds, and rejects the relationships if the sum is over the limit and the exact
 * bound is too.
 */
async function refuseByBound(
	unit: WritingUnit,
	derivations: Derivations,
	upstream: Upstream,
	objects: readonly string[],
): Promise<void> {
	const most = await greatestBound(unit, derivations, upstream, objects);
	const inner = await leadingOn(unit, derivations.relationIds, objects);
	const before = maximum((await storedCheckBound(unit)) ?? usualBound, usualBound);
	let { steps, closures } = before;
	for (const id of inner) {
		const added = upstream.stepsTo(id);
		// Every downstream instance gets all sources of this instance, and gets them again for each closure that contains
		// this instance.
		steps += added.steps + before.closures * added.own;
		closures += added.closures;
	}
	if (steps * derivations.repeated > maxSteps) await recomputeBound(unit, derivations);
	else await storeCheckBound(unit, maximum({ steps, closures }, most));
}

/** Computes the bound from all relationships, in chunks with pauses for other requests. */
async function recomputeBound(unit: WritingUnit, derivations: Derivations): Promise<void> {
	const upstream = await createUpstream(unit, derivations);
	const circular = new Set(relationIdsIn(derivations.cycles));
	const inCycles: StepIds[] = [];
	for await (const tuples of tuplePortions(unit, derivations.relationIds)) {
		upstream.add(tuples);
		for (const tuple of tuples) if (circular.has(tuple.relation_id)) inCycles.push(tuple);
	}
	await refuseIn(unit, derivations.cycles, inCycles);
	await storeCheckBound(unit, await greatestBound(unit, derivations, upstream, upstream.objects()));
}

/** Returns the longest walk for a check on these instances. Throws `limit_reached` if it is too long. */
async function greatestBound(
	unit: ReadingUnit,
	derivations: Derivations,
	upstream: Upstream,
	instances: Iterable<string>,
): Promise<CheckBound> {
	const most = maxSteps / derivations.repeated;
	let bound: CheckBound = { steps: 0, closures: 0 };
	let examined = 0;
	for (const id of instances) {
		const found: Steps = upstream.stepsTo(id, most);
		if (found.steps > most) {
			throw await limitReached(unit, { role_id: upstream.roleOn(id), instance_id: id }, maxSteps, (role, instance) => {
				return (
					`a check on ${instance}, where ${role} is derived, would take more than ${maxSteps} steps along ` +
					'relationships'
				);
			});
		}
		bound = maximum(bound, found);
		examined += found.steps + 1;
		if (examined < stepsAtOnce) continue;
		examined = 0;
		await nextTurn();
	}
	return bound;
}

/** Number of steps between pauses for other requests. */
const stepsAtOnce = 50_000;

async function raiseKeptBound(unit: WritingUnit, bound: CheckBound): Promise<void> {
	if (bound.steps <= usualBound.steps && bound.closures <= usualBound.closures) return;
	await storeCheckBound(unit, maximum((await storedCheckBound(unit)) ?? usualBound, bound));
}

function maximum(one: CheckBound, other: CheckBound): CheckBound {
	return { steps: Math.max(one.steps, other.steps), closures: Math.max(one.closures, other.closures) };
}

/**
 * Rejects roles with too many sources within a cycle. `tuples` are all relationships upstream of the affected
 * instances; `null` if there are too many.
 */
async function refuseCycles(
	unit: ReadingUnit,
	derivations: Derivations,
	changed: readonly StepIds[],
	tuples: readonly StepIds[] | null,
): Promise<void> {
	const touched = new Set(changed.map(({ relation_id }) => relation_id));
	const cycles = derivations.cycles.filter((cycle) => relationIdsIn([cycle]).some((id) => touched.has(id)));
	if (cycles.length === 0) return;
	const along = relationIdsIn(cycles);
	if (tuples !== null) {
		await refuseIn(
			unit,
			cycles,
			tuples.filter(({ relation_id }) => along.includes(relation_id)),
		);
		return;
	}
	const objects = changed.filter(({ relation_id }) => along.includes(relation_id)).map(({ object_id }) => object_id);
	const affected = await instancesDownstream(unit, along, [...new Set(objects)]);
	await refuseIn(unit, cycles, await tuplesUpstream(unit, { relationIds: along }, affected));
}

function relationIdsIn(cycles: readonly Cycle[]): readonly string[] {
	return [...new Set(cycles.flatMap(({ edges }) => edges.map(({ relation }) => relation)))];
}

async function refuseIn(unit: ReadingUnit, cycles: readonly Cycle[], tuples: readonly StepIds[]): Promise<void> {
	for (const cycle of cycles) {
		const most = maxLeadingIn(cycle);
		const overLimit = findFanInAbove(cycle, tuples, most);
		if (overLimit === null) continue;
		throw await limitReached(unit, overLimit, most, (role, instance) => {
			return `the role ${role} on ${instance} would be derived, in a cycle, from more than ${most} roles on instances`;
		});
	}
}

async function limitReached(
	unit: ReadingUnit,
	{ role_id, instance_id }: InstanceRole,
	limit: number,
	sentence: (role: string, instance: string) => string,
): Promise<Failure> {
	const role = await unit.find(Role, role_id);
	const { resource, key } = onlyRow(await instancesBy(unit, { ids: [instance_id] }).all());
	const instance = instanceName(resource, key);
	const message = `${sentence(`\`${role.key}\``, `\`${instance}\``)}, which is the limit`;
	return new Failure('limit_reached', message, { role: role.key, resource_instance: instance, limit });
}
