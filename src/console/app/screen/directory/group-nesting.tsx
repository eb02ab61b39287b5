import { ActionButton } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { answered, management } from '../../api.js';
import { confirmWrite } from '../../part/confirm.js';
import { environmentPath, mayWrite } from '../../session.js';
import { reloadAll } from '../../use-loaded.js';
import { AddByKey } from './add-by-key.js';
import { ObjectLink } from './object-link.js';
import { actionColumn, PagedTable } from './paged-table.js';
import { proposeGroups } from './propose-names.js';

/** A group's parent and child groups. */
export function GroupNesting({ group }: { readonly group: string }) {
	const remove = async (child: string) => {
		const said = `${child} is no longer in ${group}: what is held through that is lost.`;
		if (!(await confirmWrite('Take out of the group', said, { always: true }))) return;
		await answered(
			management.DELETE('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/assign_group', {
				params: { path: { ...environmentPath(), group_instance_key: group } },
				body: { group_instance_key: child },
			}),
		);
		announce(`${child} was taken out of ${group}.`);
		reloadAll();
	};
	return (
		<section aria-labelledby="nesting">
			<h2 id="nesting">Groups in groups</h2>
			<h3>Groups in it</h3>
			<GroupTable group={group} end="children" remove={remove} empty="No group is in it." />
			{mayWrite.value && (
				<AddByKey
					title="Put a group into it"
					label="Group"
					propose={proposeGroups}
					text={(child) => `${child} is in ${group} from then on.`}
					add={(child) =>
						answered(
							management.PUT('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/assign_group', {
								params: { path: { ...environmentPath(), group_instance_key: group } },
								body: { group_instance_key: child },
							}),
						)
					}
				/>
			)}
			<h3>Groups that it is in</h3>
			<GroupTable group={group} end="parents" remove={null} empty="It is in no group." />
		</section>
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
			caption={end === 'children' ? `Groups in ${group}` : `Groups that ${group} is in`}
			parameter={`${end}_page`}
			dependencies={[group]}
			load={(query, signal) => {
				const params = { path: { ...environmentPath(), group_instance_key: group }, query };
				return end === 'children'
					? answered(
							management.GET('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/children', { params, signal }),
						)
					: answered(
							management.GET('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/parents', { params, signal }),
						);
			}}
			rowKey={({ id }) => id}
			columns={[
				{ title: 'Group', cell: (row) => <ObjectLink tab="groups" name={groupName(row)} /> },
				{ title: 'Tenant', cell: (row) => <ObjectLink tab="tenants" name={row.group_tenant} /> },
				...(remove === null
					? []
					: actionColumn((row: GroupKeys) => (
							<ActionButton act={() => remove(groupName(row))} label={`Take out ${groupName(row)} of ${group}`}>
								Take out
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
