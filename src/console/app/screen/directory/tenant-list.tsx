import { directoryPath } from '../../../model/directory-path.js';
import { answered, management } from '../../api.js';
import { Empty } from '../../part/empty.js';
import { KeyText } from '../../part/key-text.js';
import { TimeText } from '../../part/time-text.js';
import { screenPath } from '../../screen-path.js';
import { environmentPath, mayWrite } from '../../session.js';
import { useSearch } from '../../use-search.js';
import { CreateObject } from './create-object.js';
import { ListFilters } from './list-filters.js';
import { ObjectLink } from './object-link.js';
import { asRowPage, PagedTable } from './paged-table.js';

/** Searchable tenant list. */
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
					const found = await answered(
						management.GET('/v2/facts/{proj_id}/{env_id}/tenants', {
							params: { path: environmentPath(), query },
							signal,
						}),
					);
					return asRowPage(found);
				}}
				rowKey={({ id }) => id}
				columns={[
					{ title: 'Tenant', cell: ({ key }) => <ObjectLink tab="tenants" name={key} /> },
					{ title: 'Name', cell: ({ name }) => <KeyText text={name} /> },
					{ title: 'About', cell: ({ description }) => (description === null ? '' : <KeyText text={description} />) },
					{ title: 'Last changed', cell: ({ last_action_at }) => <TimeText at={last_action_at} /> },
				]}
				empty={
					<Empty title={text === '' ? 'There are no tenants yet' : 'No tenant is found'}>
						<p>Users hold roles in tenants: customers of your application, or its departments.</p>
					</Empty>
				}
			/>
		</>
	);
}

function CreateTenant() {
	return (
		<CreateObject
			title="Create a tenant"
			fields={[
				{ name: 'key', label: 'Key, which checks name', required: true },
				{ name: 'name', label: 'Name', required: true },
				{ name: 'description', label: 'About (optional)' },
			]}
			create={async ({ key = '', name = '', ...more }, attributes) => {
				await answered(
					management.POST('/v2/facts/{proj_id}/{env_id}/tenants', {
						params: { path: environmentPath() },
						body: { key, name, ...more, attributes },
					}),
				);
				return screenPath(directoryPath('tenants', key));
			}}
		/>
	);
}
