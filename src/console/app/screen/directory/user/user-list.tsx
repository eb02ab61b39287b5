import { directoryPath } from '../../../../model/directory-path.js';
import { management } from '../../../api.js';
import { Empty } from '../../../part/empty.js';
import { NameText } from '../../../part/name-text.js';
import { PagedTable } from '../../../part/table/paged-table.js';
import { screenPath } from '../../../screen-path.js';
import { mayWrite } from '../../../session.js';
import { useSearch } from '../../../use-search.js';
import { CreateObject } from '../create-object.js';
import { ListFilters } from '../list-filters.js';
import { ObjectLink } from '../object-link.js';
import { UserNameText } from './user-name-text.js';

/** Maximum number of roles to show in a user's row. */
const shownRoles = 3;

export function UserList() {
	const search = useSearch();
	const [text = '', role = ''] = ['text', 'role'].map(search.get);
	return (
		<>
			<ListFilters label="users" placeholder="Key, name or email">
				{mayWrite.value && <CreateUser />}
			</ListFilters>
			<PagedTable
				caption="Users"
				parameter="page"
				dependencies={[text, role]}
				load={(page, signal) => {
					const query = { ...page, ...(text !== '' && { search: text }), ...(role !== '' && { role }) };
					return management.get('/v2/facts/{proj_id}/{env_id}/users', { query, signal });
				}}
				rowKey={({ id }) => id}
				columns={[
					{ title: 'User', cell: ({ key }) => <ObjectLink tab="users" name={key} /> },
					{ title: 'Name', cell: (user) => <UserNameText user={user} /> },
					{ title: 'Email', cell: ({ email }) => (email === null ? '' : <NameText text={email} />) },
					{
						title: 'Roles in tenants',
						cell: ({ roles }) => (
							<>
								{roles
									.slice(0, shownRoles)
									.map((held) => `${held.role} in ${held.tenant}`)
									.join(', ')}
								{roles.length > shownRoles && <span class="quiet"> and {roles.length - shownRoles} more</span>}
							</>
						),
					},
				]}
				empty={
					<Empty
						title={text === '' && role === '' ? 'No users yet' : 'No matching users'}
						docs={{ page: 'develop/getting-started', title: 'Getting started' }}
					>
						<p>
							{text === '' && role === ''
								? 'Create a user here, or let your application create users when they sign in.'
								: 'Search by key, name or email. Use * as a wildcard.'}
						</p>
					</Empty>
				}
			/>
		</>
	);
}

function CreateUser() {
	return (
		<CreateObject
			title="Create user"
			fields={[
				{ name: 'key', label: 'Key (used in checks)', required: true },
				{ name: 'email', label: 'Email (optional)' },
				{ name: 'first_name', label: 'First name (optional)' },
				{ name: 'last_name', label: 'Last name (optional)' },
			]}
			create={async ({ key = '', ...named }, attributes) => {
				await management.post('/v2/facts/{proj_id}/{env_id}/users', { body: { key, ...named, attributes } });
				return screenPath(directoryPath('users', key));
			}}
		/>
	);
}
