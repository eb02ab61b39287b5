import { directoryPath } from '../../../../model/directory-path.js';
import { management } from '../../../api.js';
import { Empty } from '../../../part/empty.js';
import { KeyText } from '../../../part/key-text.js';
import { PagedTable } from '../../../part/table/paged-table.js';
import { proposeTenants } from '../../../propose.js';
import { screenPath } from '../../../screen-path.js';
import { mayWrite } from '../../../session.js';
import { useSearch } from '../../../use-search.js';
import { CreateObject } from '../create-object.js';
import { ListFilters } from '../list-filters.js';
import { ObjectLink } from '../object-link.js';

export function GroupList() {
	const search = useSearch();
	const [text = '', tenant = '', resource = ''] = ['text', 'tenant', 'resource'].map(search.get);
	return (
		<>
			<ListFilters label="groups" placeholder="Filter by key" placed>
				{mayWrite.value && <CreateGroup />}
			</ListFilters>
			<PagedTable
				caption="Groups"
				parameter="page"
				dependencies={[text, tenant, resource]}
				load={(page, signal) => {
					const query = {
						...page,
						...(text !== '' && { search: [text] }),
						...(tenant !== '' && { tenant: [tenant] }),
						...(resource !== '' && { resource: [resource] }),
					};
					return management.get('/v2/schema/{proj_id}/{env_id}/groups/direct', { query, signal });
				}}
				rowKey={({ id }) => id}
				columns={[
					{
						title: 'Group',
						cell: ({ group_resource_type_key, group_instance_key }) => (
							<ObjectLink tab="groups" name={`${group_resource_type_key}:${group_instance_key}`} />
						),
					},
					{ title: 'Tenant', cell: ({ group_tenant }) => <ObjectLink tab="tenants" name={group_tenant} /> },
					{ title: 'Resource', cell: ({ group_resource_type_key }) => <KeyText text={group_resource_type_key} /> },
				]}
				empty={
					<Empty
						title={text + tenant + resource === '' ? 'No groups yet' : 'No matching groups'}
						docs={{ page: 'develop/groups', title: 'Groups' }}
					>
						<p>A group gives its members roles on instances.</p>
					</Empty>
				}
			/>
		</>
	);
}

function CreateGroup() {
	return (
		<CreateObject
			title="Create group"
			attributed={false}
			fields={[
				{ name: 'key', label: 'Key', required: true },
				{ name: 'tenant', label: 'Tenant', required: true, propose: proposeTenants },
				{ name: 'resource', label: 'Resource (optional, default: group)' },
			]}
			create={async ({ key = '', tenant = '', resource = 'group' }) => {
				await management.post('/v2/schema/{proj_id}/{env_id}/groups', {
					body: { group_instance_key: key, group_tenant: tenant, group_resource_type_key: resource },
				});
				return screenPath(directoryPath('groups', `${resource}:${key}`));
			}}
		/>
	);
}
