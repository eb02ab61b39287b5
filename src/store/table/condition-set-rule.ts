import type { QueryBuilder } from 'objection';
import { chunksToRemove } from '../unit/chunks-to-remove.js';
import { whereIdsIn } from '../unit/filter.js';
import type { ReadingUnit } from '../unit/reading-unit.js';
import { rowChunks } from '../unit/row-chunks.js';
import { type RowQuery, rowQuery } from '../unit/row-query.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { EnvironmentModel, sameEnvironment } from './environment-model.js';

/** Whom a user set selects may do an action on what a resource set selects. */
export class ConditionSetRule extends EnvironmentModel {
	static override readonly tableName = 'condition_set_rules';
	static readonly kind = 'condition_set_rule';
	static readonly title = 'ConditionSetRule';

	declare user_set_id: string;
	declare action_id: string;
	declare resource_set_id: string;
	declare updated_at: Date;
}

/** What a rule joins, by ids. */
export type RuleIds = Pick<ConditionSetRule, 'user_set_id' | 'action_id' | 'resource_set_id'>;

/** A rule with the keys of what it joins. */
export interface RuleRow extends RuleIds {
	readonly id: string;
	readonly environment_id: string;
	readonly user_set: string;
	readonly resource_set: string;
	/** The resource of the action, which is that of the resource set. */
	readonly resource: string;
	readonly action: string;
	readonly created_at: Date;
	readonly updated_at: Date;
}

/** What narrows a list of rules: any of each list, all of the lists together; absent lists do not narrow. */
export interface RuleFilter {
	readonly ids?: readonly string[] | undefined;
	readonly user_set_ids?: readonly string[] | undefined;
	readonly resource_set_ids?: readonly string[] | undefined;
	readonly action_ids?: readonly string[] | undefined;
	/** On either side. */
	readonly set_ids?: readonly string[] | undefined;
}

/** The environment's rules that pass the filter, with keys, oldest first. */
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

/** The rules that pass the filter, in chunks, of which each is deleted before the next is read. */
export function rulesToRemove(unit: WritingUnit, filter: RuleFilter): AsyncIterable<readonly RuleRow[]> {
	return chunksToRemove(unit, ConditionSetRule, ruleQuery(unit, filter).castTo<RuleRow[]>());
}

/** The rules that join these sets and actions: the ids of each entry belong together. */
export async function rulesJoining(unit: ReadingUnit, wanted: readonly RuleIds[]): Promise<readonly RuleRow[]> {
	const columns = ['user_set_id', 'action_id', 'resource_set_id'] as const;
	const named = columns.map((column) => `condition_set_rules.${column}`).join(', ');
	const found: RuleRow[] = [];
	for (const [, chunk] of rowChunks(wanted)) {
		const rows = ruleQuery(unit, {}).whereRaw(
			`(${named}) in (select * from unnest(?::uuid[], ?::uuid[], ?::uuid[]))`,
			columns.map((column) => chunk.map((ids) => ids[column])),
		);
		found.push(...(await rows.castTo<RuleRow[]>()));
	}
	return found;
}

/** What rules join, by keys. */
export type RuleKeys = Pick<RuleRow, 'user_set' | 'resource' | 'action' | 'resource_set'>;

/** The rules that join what has these keys. */
export async function rulesNamed(unit: ReadingUnit, wanted: readonly RuleKeys[]): Promise<readonly RuleRow[]> {
	const columns = 'user_sets.key, resources.key, resource_actions.key, resource_sets.key';
	return ruleQuery(unit, {})
		.whereRaw(
			`(${columns}) in (select * from unnest(?::text[], ?::text[], ?::text[], ?::text[]))`,
			(['user_set', 'resource', 'action', 'resource_set'] as const).map((name) => wanted.map((rule) => rule[name])),
		)
		.castTo<RuleRow[]>();
}

/** Adds the rules that are not there yet and returns those. Records nothing. */
export async function insertRules(unit: WritingUnit, wanted: readonly RuleIds[]): Promise<readonly ConditionSetRule[]> {
	const columns = wanted.map(({ user_set_id, action_id, resource_set_id }) => ({
		...unit.stamp(),
		user_set_id,
		action_id,
		resource_set_id,
	}));
	return unit.insertMissing(ConditionSetRule, columns);
}

/** Deletes these rules. Records nothing. */
export async function deleteRules(unit: WritingUnit, rows: readonly RuleRow[]): Promise<void> {
	for (const [, chunk] of rowChunks(rows)) {
		const ids = chunk.map((row) => row.id);
		await unit.query(ConditionSetRule).whereRaw('condition_set_rules.id = any(?::uuid[])', [ids]).delete();
	}
}
