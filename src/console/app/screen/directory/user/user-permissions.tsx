import { permissionPage } from '../../../../model/matrix/permission-rows.js';
import { Button } from '../../../../part/button.js';
import { Section } from '../../../../part/section.js';
import { answered, decisions } from '../../../api.js';
import { Combobox } from '../../../part/field/combobox.js';
import { SearchField } from '../../../part/field/search-field.js';
import { KeyLink } from '../../../part/key-link.js';
import { KeyText } from '../../../part/key-text.js';
import { LoadedFrame } from '../../../part/loaded-frame.js';
import { DataTable } from '../../../part/table/data-table.js';
import { Pager } from '../../../part/table/pager.js';
import { proposeResources, proposeTenants } from '../../../propose.js';
import { screenPath } from '../../../screen-path.js';
import { openSession } from '../../../session.js';
import { useLoaded } from '../../../use-loaded.js';
import { useSearch } from '../../../use-search.js';
import { ObjectLink } from '../object-link.js';

/** Number of rows per page, and maximum permissions per row. */
const perPage = 20;
const shownPermissions = 12;

/** A user's permissions, from the decision point. Loaded on demand. */
export function UserPermissions({ user }: { readonly user: string }) {
	const search = useSearch();
	const isOpen = search.get('may') !== '';
	return (
		<Section id="may" title="Permissions">
			{!openSession().decision_point ? (
				<p class="quiet">No decision point is configured. Set CONSOLE_PDP_URL to its URL.</p>
			) : isOpen ? (
				<PermissionList user={user} />
			) : (
				<Button onClick={() => search.set({ may: 'yes' })}>Load permissions</Button>
			)}
		</Section>
	);
}

function PermissionList({ user }: { readonly user: string }) {
	const search = useSearch();
	const [tenant = '', type = '', text = ''] = ['may_tenant', 'may_type', 'may_text'].map(search.get);
	const page = Number(search.get('may_page')) || 1;
	const filter = (name: string) => search.filter(name, { may_page: '' });
	const loaded = useLoaded(
		(signal) => {
			const body = {
				user: { key: user },
				...(tenant !== '' && { tenants: [tenant] }),
				// Evaluate conditions only if a single resource is chosen, because there may be many instances.
				...(type !== '' && { resource_types: [type], context: { enable_abac_user_permissions: true } }),
			};
			return answered(decisions().POST('/user-permissions', { body, signal }));
		},
		[user, tenant, type],
	);
	return (
		<>
			<form class="columns directory-filters" onSubmit={(event) => event.preventDefault()}>
				<Combobox label="Tenant" placeholder="All" {...filter('may_tenant')} propose={proposeTenants} />
				<Combobox
					label="Resource"
					placeholder="All (choose a resource to include condition sets)"
					{...filter('may_type')}
					propose={proposeResources}
				/>
				<SearchField label="Search permissions" {...filter('may_text')} />
			</form>
			<LoadedFrame loaded={loaded}>
				{(listed) => {
					const { rows, total, pageCount } = permissionPage(listed, { text, page, perPage });
					if (total === 0) return <p class="quiet">No permissions from roles.</p>;
					return (
						<>
							<DataTable
								caption={`Permissions of ${user}`}
								rows={rows}
								rowKey={(row) => `${row.tenant} ${row.instance}`}
								columns={[
									{ title: 'Tenant', cell: (row) => <ObjectLink tab="tenants" name={row.tenant} /> },
									{
										title: 'Scope',
										cell: ({ instance }) =>
											instance === null ? (
												<span class="quiet">tenant</span>
											) : (
												<ObjectLink tab="instances" name={instance} />
											),
									},
									{ title: 'Roles', cell: ({ roles }) => <KeyText text={roles.join(', ')} /> },
									{
										title: 'Permissions',
										cell: ({ permissions, instance, tenant: at }) => (
											<>
												{permissions.slice(0, shownPermissions).map((permission) => (
													<span key={permission}>
														<KeyLink href={checkPath(user, permission, instance, at)} text={permission} />{' '}
													</span>
												))}
												{permissions.length > shownPermissions && (
													<span class="quiet">and {permissions.length - shownPermissions} more</span>
												)}
											</>
										),
									},
								]}
							/>
							<Pager
								page={page}
								list={{ page_count: pageCount, total_count: total }}
								turnTo={(next) => search.set({ may_page: String(next) })}
							/>
						</>
					);
				}}
			</LoadedFrame>
		</>
	);
}

/** Returns the URL of the check screen for a permission `<resource>:<action>`. */
function checkPath(user: string, permission: string, instance: string | null, tenant: string): string {
	const [type = '', action = ''] = permission.split(':');
	return screenPath('check', { user, action, resource: instance ?? type, tenant });
}
