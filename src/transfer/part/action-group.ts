import { groupBy } from '../../../compiler/group-by.js';
import { changeActionGroup, createActionGroup, removeActionGroups } from '../../domain/schema/action-group.js';
import { ActionGroup, groupedActions } from '../../store/table/action-group.js';
import { ResourceAction } from '../../store/table/resource.js';
import { partsWithKeys } from '../../store/unit/keyed-rows.js';
import type { ActionGroupEntry } from '../../wire/general/environment-document.js';
import { nestedPart } from './nested.js';
import { type DocumentPart, unknownReference, withoutDefaults, withoutNulls, withPlace } from './part.js';

/** Action groups, nested in their resource. */
export const actionGroupPart: DocumentPart<ActionGroupEntry> = nestedPart<ActionGroup, ActionGroupEntry>({
	table: ActionGroup,
	title: 'action group',
	member: 'action_groups',
	entryMap: ({ action_groups }) => action_groups,
	toDocument: (value) => withoutDefaults(value, { description: null, attributes: null, actions: [] }),
	async describe(unit, rows) {
		const ids = rows.map(({ id }) => id);
		const actions = groupBy(await groupedActions(unit, ids), ({ action_group_id }) => action_group_id);
		return ({ id, name, description, attributes }) => {
			return { name, description, attributes, actions: (actions.get(id) ?? []).map(({ key }) => key) };
		};
	},
	async write(unit, entries) {
		const actionAt = await partsWithKeys(
			unit,
			ResourceAction,
			entries.flatMap(({ resource, value }) => value.actions.map((key) => ({ resource_id: resource.id, key }))),
		);
		for (const { key, place, value, resource, row } of entries) {
			const actions = value.actions.map((action, index) => {
				const found = actionAt(resource.id, action);
				if (found === undefined) throw unknownReference([...place, 'actions', index], ResourceAction.title, action);
				return found.id;
			});
			const body = { ...value, actions };
			await withPlace(place, () =>
				row === undefined
					? createActionGroup(unit, resource, { key, ...withoutNulls(body) })
					: changeActionGroup(unit, resource, row, body),
			);
		}
	},
	async removeOwned(unit, owned) {
		for (const [resource, rows] of groupBy(owned, (one) => one.resource)) {
			const storedRows = rows.map(({ row }) => row);
			await removeActionGroups(unit, resource, storedRows);
		}
	},
});
