import { ActionButton } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { Section } from '../../../part/section.js';
import { management } from '../../api.js';
import { ButtonLink } from '../../part/button-link.js';
import { confirmWrite } from '../../part/confirm.js';
import { SearchField } from '../../part/field/search-field.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { NameText } from '../../part/name-text.js';
import { Screen } from '../../part/screen.js';
import { actionColumn, PagedTable } from '../../part/table/paged-table.js';
import { TimeText } from '../../part/time-text.js';
import { proposeUsers } from '../../propose.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { reloadAll, useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { AddByKey } from './add-by-key.js';
import { AssignRole } from './assign-role.js';
import { AttributesSection } from './attributes-form.js';
import { DeleteObject } from './delete-object.js';
import { BackLink, ObjectLink } from './object-link.js';
import { RoleList } from './role-list.js';
import { UserNameText } from './user/user-name-text.js';

/** Tenant page: its users and roles. */
export function TenantPage({ name }: { readonly name: string }) {
	const loaded = useLoaded((signal) => readTenant(name, signal), [name]);
	return (
		<Screen
			title={`Tenant ${name}`}
			actions={<ButtonLink href={screenPath('graph', { from: `tenant:${name}` })}>Graph</ButtonLink>}
		>
			<BackLink tab="tenants">All tenants</BackLink>
			<LoadedFrame loaded={loaded}>
				{(tenant) => (
					<>
						<dl class="directory-facts">
							<dt>Name</dt>
							<dd>
								<NameText text={tenant.name} />
							</dd>
							<dt>Description</dt>
							<dd>{tenant.description === null ? 'none' : <NameText text={tenant.description} />}</dd>
							<dt>Created</dt>
							<dd>
								<TimeText at={tenant.created_at} />
							</dd>
						</dl>
						<Section id="users" title="Users">
							<TenantUsers tenant={tenant.key} />
						</Section>
						<Section id="roles" title="Roles in this tenant and on its instances">
							<RoleList caption={`Roles in ${tenant.key}`} at={{ tenant: tenant.key }} />
							{mayWrite.value && <AssignRole tenant={tenant.key} />}
						</Section>
						<AttributesSection
							name={tenant.key}
							attributes={tenant.attributes}
							save={(attributes) =>
								management.patch('/v2/facts/{proj_id}/{env_id}/tenants/{tenant_id}', {
									path: { tenant_id: tenant.id },
									body: { attributes },
								})
							}
						/>

						<DeleteObject
							tab="tenants"
							title="Delete tenant"
							text={`Delete tenant ${tenant.key}? This also deletes all roles in the tenant and all its instances with their roles and relationships. The users are kept.`}
							remove={() =>
								management.delete('/v2/facts/{proj_id}/{env_id}/tenants/{tenant_id}', {
									path: { tenant_id: tenant.id },
								})
							}
						/>
					</>
				)}
			</LoadedFrame>
		</Screen>
	);
}

function readTenant(tenant_id: string, signal: AbortSignal) {
	return management.get('/v2/facts/{proj_id}/{env_id}/tenants/{tenant_id}', { path: { tenant_id }, signal });
}

/** Searchable list of a tenant's users, with controls to add and remove them. */
function TenantUsers({ tenant }: { readonly tenant: string }) {
	const search = useSearch();
	const text = search.get('text');
	const remove = async (user_id: string) => {
		const said = `Remove ${user_id} from ${tenant}? The user loses all roles in the tenant and on its instances. The user is not deleted.`;
		if (!(await confirmWrite('Remove from tenant', said, { always: true }))) return;
		await management.delete('/v2/facts/{proj_id}/{env_id}/tenants/{tenant_id}/users/{user_id}', {
			path: { tenant_id: tenant, user_id },
		});
		announce(`Removed ${user_id} from ${tenant}.`);
		reloadAll();
	};
	return (
		<>
			<search aria-label="Filter users" class="directory-search">
				<SearchField label="Search users" {...search.filter('text', { users_page: '' })} />
			</search>
			<PagedTable
				caption={`Users of ${tenant}`}
				parameter="users_page"
				dependencies={[tenant, text]}
				load={(page, signal) => {
					const query = { ...page, ...(text !== '' && { search: text }) };
					return management.get('/v2/facts/{proj_id}/{env_id}/tenants/{tenant_id}/users', {
						path: { tenant_id: tenant },
						query,
						signal,
					});
				}}
				rowKey={({ id }) => id}
				columns={[
					{ title: 'User', cell: ({ key }) => <ObjectLink tab="users" name={key} /> },
					{ title: 'Name', cell: (user) => <UserNameText user={user} /> },
					{
						title: 'Roles',
						cell: ({ associated_tenants }) => {
							const here = associated_tenants.find((one) => one.tenant === tenant);
							return here?.status === 'pending' ? <span class="badge">invited</span> : (here?.roles ?? []).join(', ');
						},
					},
					...actionColumn(({ key }: { readonly key: string }) => (
						<ActionButton act={() => remove(key)} label={`Remove ${key} from ${tenant}`}>
							Remove
						</ActionButton>
					)),
				]}
				empty={<p class="quiet">{text === '' ? 'No users.' : 'No matching users.'}</p>}
			/>
			{mayWrite.value && (
				<AddByKey
					title="Add user"
					label="User"
					propose={proposeUsers}
					text={(key) => `Add ${key} to ${tenant} without a role? If the user does not exist, it is created.`}
					add={async (key) => {
						await management.post('/v2/facts/{proj_id}/{env_id}/tenants/{tenant_id}/users', {
							path: { tenant_id: tenant },
							body: { key },
						});
					}}
				/>
			)}
		</>
	);
}
