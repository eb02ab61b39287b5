import { directoryPath } from '../../../model/directory-path.js';
import { management } from '../../api.js';
import { Empty } from '../../part/empty.js';
import { NameText } from '../../part/name-text.js';
import { asRowPage, PagedTable } from '../../part/table/paged-table.js';
import { TimeText } from '../../part/time-text.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { useSearch } from '../../use-search.js';
import { CreateObject } from './create-object.js';
import { ListFilters } from './list-filters.js';
import { ObjectLink } from './object-link.js';

export function TenantList() {
	const text = useSearch().get('text');
	return (
		<>
			<ListFilters label="tenants" placeholder="Key or name">
				{mayWrite.value && <CreateTenant />}
			</ListFilters>
			<PagedTable
				caption="Tenants"
				parameter="page"
				dependencies={[text]}
				load={async (page, signal) => {
					const query = { ...page, include_total_count: true, ...(text !== '' && { search: text }) };
					const found = await management.get('/v2/facts/{proj_id}/{env_id}/tenants', { query, signal });
					return asRowPage(found);
				}}
				rowKey={({ id }) => id}
				columns={[
					{ title: 'Tenant', cell: ({ key }) => <ObjectLink tab="tenants" name={key} /> },
					{ title: 'Name', cell: ({ name }) => <NameText text={name} /> },
					{
						title: 'Description',
						cell: ({ description }) => (description === null ? '' : <NameText text={description} />),
					},
					{ title: 'Updated', cell: ({ last_action_at }) => <TimeText at={last_action_at} /> },
				]}
				empty={
					<Empty
						title={text === '' ? 'No tenants yet' : 'No matching tenants'}
						docs={{ page: 'develop/getting-started', title: 'Getting started' }}
					>
						<p>A tenant is a customer or department of your application. Users have roles in tenants.</p>
					</Empty>
				}
			/>
		</>
	);
}

function CreateTenant() {
	return (
		<CreateObject
			title="Create tenant"
			fields={[
				{ name: 'key', label: 'Key (used in checks)', required: true },
				{ name: 'name', label: 'Name', required: true },
				{ name: 'description', label: 'Description (optional)' },
			]}
			create={async ({ key = '', name = '', ...more }, attributes) => {
				await management.post('/v2/facts/{proj_id}/{env_id}/tenants', { body: { key, name, ...more, attributes } });
				return screenPath(directoryPath('tenants', key));
			}}
		/>
	);
}
