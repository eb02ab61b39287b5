import type { components } from '#management-api';
import { everyone } from '../../../model/grant-condition.js';
import { management } from '../../api.js';
import { KeyText } from '../../part/key-text.js';
import { actionColumn, asRowPage, PagedTable, type RowPage } from '../../part/table/paged-table.js';
import { TimeText } from '../../part/time-text.js';
import { ConditionText } from './condition-text.js';
import { ObjectLink } from './object-link.js';
import { RemoveRole } from './remove-role.js';

/** Role assignment. Lists contain the detailed form only on request. */
type Assignment = components['schemas']['RoleAssignmentRead'];

interface RoleListProps {
	readonly caption: string;
	/** Place of the roles: a tenant with its instances, or an instance `<resource>:<key>`. */
	readonly at: { readonly tenant: string } | { readonly instance: string };
}

/** Role assignments in a tenant or on an instance. */
export function RoleList({ caption, at }: RoleListProps) {
	const place = 'tenant' in at ? { tenant: [at.tenant] } : { resource_instance: [at.instance] };
	return (
		<PagedTable<Assignment>
			caption={caption}
			parameter="roles_page"
			dependencies={[JSON.stringify(place)]}
			load={async (page, signal) => {
				const query = { ...page, ...place, include_total_count: true };
				const found = await management.get('/v2/facts/{proj_id}/{env_id}/role_assignments', { query, signal });
				return asRowPage(found as readonly Assignment[] | RowPage<Assignment>);
			}}
			rowKey={({ id }) => id}
			columns={[
				{ title: 'User', cell: ({ user }) => <HolderText user={user} /> },
				{
					title: 'Role',
					cell: ({ role, condition }) => (
						<>
							<KeyText text={role} />
							<ConditionText condition={condition} />
						</>
					),
				},
				...('tenant' in at
					? [
							{
								title: 'Scope',
								cell: ({ resource_instance }: Assignment) =>
									resource_instance === null ? (
										<span class="quiet">tenant</span>
									) : (
										<ObjectLink tab="instances" name={resource_instance} />
									),
							},
						]
					: []),
				{
					title: 'Expires',
					cell: ({ expires_at }) => (expires_at === undefined ? 'never' : <TimeText at={expires_at} />),
				},
				...actionColumn(({ user, role, tenant, resource_instance, condition }: Assignment) => (
					<RemoveRole user={user} role={role} tenant={tenant} instance={resource_instance} set={condition?.set} />
				)),
			]}
			empty={<p class="quiet">No roles assigned.</p>}
		/>
	);
}

/** Role holder, with a link. A set of users links to its instance. */
function HolderText({ user }: { readonly user: string }) {
	const [instance = ''] = user.split('#');
	if (user === everyone) return <>everyone</>;
	if (instance === user) return <ObjectLink tab="users" name={user} />;
	return (
		<>
			<ObjectLink tab="instances" name={instance} />
			<KeyText text={user.slice(instance.length)} />
		</>
	);
}
