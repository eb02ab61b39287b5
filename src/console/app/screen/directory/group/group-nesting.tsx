import { ActionButton } from '../../../../part/action-button.js';
import { announce } from '../../../../part/announce.js';
import { Section } from '../../../../part/section.js';
import { management } from '../../../api.js';
import { confirmWrite } from '../../../part/confirm.js';
import { actionColumn, PagedTable } from '../../../part/table/paged-table.js';
import { mayWrite } from '../../../session.js';
import { reloadAll } from '../../../use-loaded.js';
import { AddByKey } from '../add-by-key.js';
import { ObjectLink } from '../object-link.js';
import { proposeGroups } from './propose-groups.js';

/** A group's parent and child groups. */
export function GroupNesting({ group }: { readonly group: string }) {
	const remove = async (child: string) => {
		const said = `Remove ${child} from ${group}? Members of ${child} lose the roles inherited from ${group}.`;
		if (!(await confirmWrite('Remove from group', said, { always: true }))) return;
		await management.delete('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/assign_group', {
			path: { group_instance_key: group },
			body: { group_instance_key: child },
		});
		announce(`Removed ${child} from ${group}.`);
		reloadAll();
	};
	return (
		<Section id="nesting" title="Nested groups">
			<h3>Child groups</h3>
			<GroupTable group={group} end="children" remove={remove} empty="No child groups." />
			{mayWrite.value && (
				<AddByKey
					title="Add child group"
					label="Group"
					propose={proposeGroups}
					text={(child) => `Add ${child} to ${group}? Members of ${child} inherit the roles of ${group}.`}
					add={(child) =>
						management.put('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/assign_group', {
							path: { group_instance_key: group },
							body: { group_instance_key: child },
						})
					}
				/>
			)}
			<h3>Parent groups</h3>
			<GroupTable group={group} end="parents" remove={null} empty="No parent groups." />
		</Section>
	);
}

interface GroupTableProps {
	readonly group: string;
	readonly end: 'children' | 'parents';
	readonly remove: ((group: string) => Promise<void>) | null;
	readonly empty: string;
}

function GroupTable({ group, end, remove, empty }: GroupTableProps) {
	return (
		<PagedTable
			caption={end === 'children' ? `Child groups of ${group}` : `Parent groups of ${group}`}
			parameter={`${end}_page`}
			dependencies={[group]}
			load={(query, signal) => {
				const path = { group_instance_key: group };
				return end === 'children'
					? management.get('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/children', {
							path,
							query,
							signal,
						})
					: management.get('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/parents', {
							path,
							query,
							signal,
						});
			}}
			rowKey={({ id }) => id}
			columns={[
				{ title: 'Group', cell: (row) => <ObjectLink tab="groups" name={groupName(row)} /> },
				{ title: 'Tenant', cell: (row) => <ObjectLink tab="tenants" name={row.group_tenant} /> },
				...(remove === null
					? []
					: actionColumn((row: GroupKeys) => (
							<ActionButton act={() => remove(groupName(row))} label={`Remove ${groupName(row)} from ${group}`}>
								Remove
							</ActionButton>
						))),
			]}
			empty={<p class="quiet">{empty}</p>}
		/>
	);
}

interface GroupKeys {
	readonly group_resource_type_key: string;
	readonly group_instance_key: string;
}

function groupName(row: GroupKeys): string {
	return `${row.group_resource_type_key}:${row.group_instance_key}`;
}
