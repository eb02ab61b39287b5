import type { QueryBuilder } from 'objection';
import { whereIdsIn } from '../query/filter.js';
import { rowChunks } from '../query/row-chunks.js';
import { type RowQuery, rowQuery } from '../query/row-query.js';
import { chunksToRemove } from '../unit/chunks-to-remove.js';
import { keysWithIds, partsWithKeys, rowsWithIds, rowsWithKeys } from '../unit/keyed-rows.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { ConditionSet } from './condition-set.js';
import { EnvironmentModel, sameEnvironment } from './environment-model.js';
import { Resource, ResourceAction } from './resource.js';

/** Rule that allows the users in a user set an action on the resources in a resource set. */
export class ConditionSetRule extends EnvironmentModel {
	static override readonly tableName = 'condition_set_rules';
	static readonly kind = 'condition_set_rule';
	static readonly title = 'ConditionSetRule';

	declare user_set_id: string;
	declare action_id: string;
	declare resource_set_id: string;
	declare updated_at: Date;
}

/** A rule's set and action ids. */
export type RuleIds = Pick<ConditionSetRule, 'user_set_id' | 'action_id' | 'resource_set_id'>;

/** A rule with its set, resource and action keys. */
export interface RuleRow extends RuleIds {
	readonly id: string;
	readonly environment_id: string;
	readonly user_set: string;
	readonly resource_set: string;
	/** Resource shared by the action and the resource set. */
	readonly resource: string;
	readonly action: string;
	readonly created_at: Date;
	readonly updated_at: Date;
}

/** Filter for rules. A rule matches if each list contains the rule's value. Absent lists do not filter. */
export interface RuleFilter {
	readonly ids?: readonly string[] | undefined;
	readonly user_set_ids?: readonly string[] | undefined;
	readonly resource_set_ids?: readonly string[] | undefined;
	readonly action_ids?: readonly string[] | undefined;
	/** Set ids on either side of the rule. */
	readonly set_ids?: readonly string[] | undefined;
}

/** Returns the environment's rules matching the filter, with keys, oldest first. */
export function rulesBy(unit: ReadingUnit, filter: RuleFilter): RowQuery<RuleRow> {
	return rowQuery(ruleQuery(unit, filter).castTo<RuleRow[]>(), narrow(unit.query(ConditionSetRule), filter));
}

function ruleQuery(unit: ReadingUnit, filter: RuleFilter): QueryBuilder<ConditionSetRule, ConditionSetRule[]> {
	const query = unit
		.query(ConditionSetRule)
		.join('condition_sets as user_sets', sameEnvironment('condition_set_rules', 'user_set_id', 'user_sets'))
		.join('condition_sets as resource_sets', sameEnvironment('condition_set_rules', 'resource_set_id', 'resource_sets'))
		.join('resource_actions', sameEnvironment('condition_set_rules', 'action_id', 'resource_actions'))
		.join('resources', sameEnvironment('resource_actions', 'resource_id', 'resources'))
		.select('condition_set_rules.*', 'user_sets.key as user_set', 'resource_sets.key as resource_set')
		.select('resource_actions.key as action', 'resources.key as resource')
		.orderBy('condition_set_rules.id');
	return narrow(query, filter);
}

function narrow(
	query: QueryBuilder<ConditionSetRule, ConditionSetRule[]>,
	filter: RuleFilter,
): QueryBuilder<ConditionSetRule, ConditionSetRule[]> {
	whereIdsIn(query, {
		'condition_set_rules.id': filter.ids,
		'condition_set_rules.user_set_id': filter.user_set_ids,
		'condition_set_rules.resource_set_id': filter.resource_set_ids,
		'condition_set_rules.action_id': filter.action_ids,
	});
	const { set_ids } = filter;
	if (set_ids === undefined) return query;
	return query.where((either) => {
		for (const side of ['condition_set_rules.user_set_id', 'condition_set_rules.resource_set_id']) {
			either.orWhereRaw('?? = any(?::uuid[])', [side, set_ids]);
		}
	});
}

/**
 * Returns all rules in the environment, with keys, oldest first. Reads rules and keys separately: PostgreSQL may join
 * five tables in an order that takes seconds for a few thousand rules.
 */
export async function allRules(unit: ReadingUnit): Promise<readonly RuleRow[]> {
	return withKeys(unit, await unit.query(ConditionSetRule).orderBy('condition_set_rules.id'));
}

/** Yields the rules matching the filter, in chunks. The caller deletes each chunk before reading the next. */
export async function* rulesToRemove(unit: WritingUnit, filter: RuleFilter): AsyncGenerator<readonly RuleRow[]> {
	const query = narrow(unit.query(ConditionSetRule).orderBy('condition_set_rules.id'), filter);
	for await (const rules of chunksToRemove(unit, ConditionSetRule, query)) yield withKeys(unit, rules);
}

/** Returns the rules with these combinations of set ids and action ids, oldest first. */
export async function rulesJoining(unit: ReadingUnit, wanted: readonly RuleIds[]): Promise<readonly RuleRow[]> {
	const found: ConditionSetRule[] = [];
	for (const [, chunk] of rowChunks(wanted)) {
		const { rows } = await unit.raw<ConditionSetRule>(
			`select found.* from unnest(:user_sets::uuid[], :actions::uuid[], :resource_sets::uuid[])
				as wanted (user_set_id, action_id, resource_set_id)
			cross join lateral (
				select * from condition_set_rules where environment_id = :environment_id
					and user_set_id = wanted.user_set_id and action_id = wanted.action_id
					and resource_set_id = wanted.resource_set_id offset 0
			) as found`,
			{
				user_sets: chunk.map(({ user_set_id }) => user_set_id),
				actions: chunk.map(({ action_id }) => action_id),
				resource_sets: chunk.map(({ resource_set_id }) => resource_set_id),
			},
		);
		found.push(...rows.map((row) => ConditionSetRule.fromDatabaseJson(row)));
	}
	const distinct = [...new Map(found.map((rule) => [rule.id, rule])).values()];
	return withKeys(
		unit,
		distinct.sort((left, right) => (left.id < right.id ? -1 : 1)),
	);
}

/** A rule's set, resource and action keys. */
export type RuleKeys = Pick<RuleRow, 'user_set' | 'resource' | 'action' | 'resource_set'>;

/** Returns the rules with these key combinations, oldest first. */
export async function rulesNamed(unit: ReadingUnit, wanted: readonly RuleKeys[]): Promise<readonly RuleRow[]> {
	const userSets = await rowsWithKeys(
		unit,
		ConditionSet,
		wanted.map(({ user_set }) => user_set),
		{ type: 'userset' },
	);
	const resourceSets = await rowsWithKeys(
		unit,
		ConditionSet,
		wanted.map(({ resource_set }) => resource_set),
		{ type: 'resourceset' },
	);
	const names = wanted.map(({ resource }) => resource);
	const resources = await rowsWithKeys(unit, Resource, names);
	const pairs = new Map(
		wanted.flatMap(({ resource, action }) => {
			const owner = resources.get(resource);
			return owner === undefined ? [] : [[`${resource}:${action}`, { resource_id: owner.id, key: action }] as const];
		}),
	);
	const actionAt = await partsWithKeys(unit, ResourceAction, [...pairs.values()]);
	const ids = wanted.flatMap((rule): RuleIds[] => {
		const action = actionAt(resources.get(rule.resource)?.id ?? '', rule.action);
		const [user, resource] = [userSets.get(rule.user_set), resourceSets.get(rule.resource_set)];
		if (action === undefined || user === undefined || resource === undefined) return [];
		return [{ user_set_id: user.id, action_id: action.id, resource_set_id: resource.id }];
	});
	return rulesJoining(unit, ids);
}

/** Adds keys to rules. INVARIANT: the rows that rules refer to exist, because foreign keys require them. */
export async function withKeys(unit: ReadingUnit, rules: readonly ConditionSetRule[]): Promise<readonly RuleRow[]> {
	const sets = await keysWithIds(
		unit,
		ConditionSet,
		rules.flatMap(({ user_set_id, resource_set_id }) => [user_set_id, resource_set_id]),
	);
	const actionIds = rules.map(({ action_id }) => action_id);
	const actions = rules.length === 0 ? new Map() : await rowsWithIds(unit, ResourceAction, [...new Set(actionIds)]);
	const resourceIds = [...actions.values()].map(({ resource_id }) => resource_id);
	const resources = await keysWithIds(unit, Resource, resourceIds);
	return rules.map((rule) => {
		const action = actions.get(rule.action_id);
		return Object.assign(rule, {
			user_set: sets.get(rule.user_set_id) ?? '',
			resource_set: sets.get(rule.resource_set_id) ?? '',
			action: action?.key ?? '',
			resource: resources.get(action?.resource_id ?? '') ?? '',
		});
	});
}

/** Inserts the rules that do not exist yet, and returns the inserted rules. Does not write to the change log. */
export async function insertRules(unit: WritingUnit, wanted: readonly RuleIds[]): Promise<readonly ConditionSetRule[]> {
	const columns = wanted.map(({ user_set_id, action_id, resource_set_id }) => ({
		...unit.stamp(),
		user_set_id,
		action_id,
		resource_set_id,
	}));
	return unit.insertMissing(ConditionSetRule, columns);
}

/** Deletes these rules. Does not write to the change log. */
export async function deleteRules(unit: WritingUnit, rows: readonly RuleRow[]): Promise<void> {
	for (const [, chunk] of rowChunks(rows)) {
		const ids = chunk.map((row) => row.id);
		await unit.query(ConditionSetRule).whereRaw('condition_set_rules.id = any(?::uuid[])', [ids]).delete();
	}
}
