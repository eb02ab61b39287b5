import { directoryPath } from '../../../../model/directory-path.js';
import { management } from '../../../api.js';
import { Empty } from '../../../part/empty.js';
import { asRowPage, PagedTable } from '../../../part/table/paged-table.js';
import { TimeText } from '../../../part/time-text.js';
import { proposeResources, proposeTenants } from '../../../propose.js';
import { screenPath } from '../../../screen-path.js';
import { mayWrite } from '../../../session.js';
import { useSearch } from '../../../use-search.js';
import { CreateObject } from '../create-object.js';
import { ListFilters } from '../list-filters.js';
import { ObjectLink } from '../object-link.js';

/** Searchable resource instance list. */
export function InstanceList() {
	const search = useSearch();
	const [text = '', tenant = '', resource = ''] = ['text', 'tenant', 'resource'].map(search.get);
	return (
		<>
			<ListFilters label="instances" placeholder="Filter by resource:key" placed>
				{mayWrite.value && <CreateInstance />}
			</ListFilters>
			<PagedTable
				caption="Instances"
				parameter="page"
				dependencies={[text, tenant, resource]}
				load={async (page, signal) => {
					const query = {
						...page,
						include_total_count: true,
						...(text !== '' && { search: [text] }),
						...(tenant !== '' && { tenant: [tenant] }),
						...(resource !== '' && { resource: [resource] }),
					};
					const found = await management.get('/v2/facts/{proj_id}/{env_id}/resource_instances', { query, signal });
					return asRowPage(found);
				}}
				rowKey={({ id }) => id}
				columns={[
					{ title: 'Instance', cell: (one) => <ObjectLink tab="instances" name={`${one.resource}:${one.key}`} /> },
					{ title: 'Tenant', cell: (one) => <ObjectLink tab="tenants" name={one.tenant} /> },
					{ title: 'Created', cell: ({ created_at }) => <TimeText at={created_at} /> },
				]}
				empty={
					<Empty
						title={text + tenant + resource === '' ? 'No instances yet' : 'No matching instances'}
						docs={{ page: 'policy/graph', title: 'Graphs and effective roles' }}
					>
						<p>
							An instance is a single object of a resource, such as document:budget. Users can have roles on instances,
							and relationships link instances.
						</p>
					</Empty>
				}
			/>
		</>
	);
}

function CreateInstance() {
	return (
		<CreateObject
			title="Create instance"
			fields={[
				{ name: 'resource', label: 'Resource', required: true, propose: proposeResources },
				{ name: 'key', label: 'Key', required: true },
				{ name: 'tenant', label: 'Tenant', required: true, propose: proposeTenants },
			]}
			create={async ({ key = '', resource = '', tenant = '' }, attributes) => {
				await management.post('/v2/facts/{proj_id}/{env_id}/resource_instances', {
					body: { key, resource, tenant, attributes },
				});
				return screenPath(directoryPath('instances', `${resource}:${key}`));
			}}
		/>
	);
}
