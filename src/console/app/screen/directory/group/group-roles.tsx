import { useSignal } from '@preact/signals';
import type { components } from '#management-api';
import { type ExpiryText, expiryMember } from '../../../../model/instants.js';
import { ActionButton } from '../../../../part/action-button.js';
import { announce } from '../../../../part/announce.js';
import { ExpiryField } from '../../../../part/expiry-field.js';
import { bound } from '../../../../part/setter.js';
import { management } from '../../../api.js';
import { confirmWrite } from '../../../part/confirm.js';
import { Combobox } from '../../../part/field/combobox.js';
import { KeyText } from '../../../part/key-text.js';
import { actionColumn, PagedTable } from '../../../part/table/paged-table.js';
import { proposeInstanceNames, proposeRoles } from '../../../propose.js';
import { mayWrite } from '../../../session.js';
import { reloadAll } from '../../../use-loaded.js';
import { ObjectLink } from '../object-link.js';
import { WriteForm } from '../write-form.js';

type GroupRole = components['schemas']['GroupRoleRead'];

interface GroupRolesProps {
	/** Group, as `<resource>:<key>`. */
	readonly group: string;
	readonly tenant: string;
}

/** Instance roles that a group gives its members, with controls to assign and remove them. */
export function GroupRoles({ group, tenant }: GroupRolesProps) {
	const path = { group_instance_key: group };
	const remove = async (role: string, resource_instance: string, resource: string) => {
		const what = `role ${role} on ${resource_instance}`;
		if (
			!(await confirmWrite('Remove role', `Remove ${what} from ${group}? Its members lose the role.`, { always: true }))
		)
			return;
		await management.delete('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/roles', {
			path,
			body: { role, resource, resource_instance, tenant },
		});
		announce(`Removed ${what} from ${group}.`);
		reloadAll();
	};
	return (
		<>
			<PagedTable
				caption={`Member roles of ${group}`}
				parameter="roles_page"
				dependencies={[group]}
				load={(query, signal) =>
					management.get('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/roles', { path, query, signal })
				}
				rowKey={(row) => `${row.role_id} ${row.resource_instance_id}`}
				columns={[
					{ title: 'Role', cell: ({ role }) => <KeyText text={role} /> },
					{ title: 'Instance', cell: (row) => <ObjectLink tab="instances" name={instanceOf(row)} /> },
					...actionColumn((row: GroupRole) => (
						<ActionButton
							act={() => remove(row.role, instanceOf(row), row.resource.key)}
							label={`Remove role ${row.role} on ${instanceOf(row)}`}
						>
							Remove
						</ActionButton>
					)),
				]}
				empty={<p class="quiet">No roles yet.</p>}
			/>
			{mayWrite.value && <GiveGroupRole group={group} tenant={tenant} />}
		</>
	);
}

/** Returns a group role's instance as `<resource>:<key>`. */
function instanceOf({ resource, resource_instance }: GroupRole): string {
	return `${resource.key}:${resource_instance.key}`;
}

/** Form that assigns an instance role to the group's members. */
function GiveGroupRole({ group, tenant }: GroupRolesProps) {
	const instance = useSignal('');
	const role = useSignal('');
	const end = useSignal<ExpiryText>('');
	const send = async () => {
		const assigned = `role ${role.value} on ${instance.value} to the members of ${group}`;
		if (!(await confirmWrite('Assign role', `Assign ${assigned}?`))) return;
		const [resource = ''] = instance.value.split(':');
		const given = { role: role.value, resource, resource_instance: instance.value, tenant };
		await management.post('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/roles', {
			path: { group_instance_key: group },
			body: { ...given, ...expiryMember(end.value) },
		});
		announce(`Assigned ${assigned}.`);
		role.value = '';
		reloadAll();
	};
	return (
		<WriteForm title="Assign role" send={send}>
			<Combobox
				label="Instance"
				placeholder="resource:key"
				required
				{...bound(instance)}
				propose={proposeInstanceNames}
			/>
			<Combobox label="Role" required {...bound(role)} propose={proposeRoles(instance.value)} />
			<ExpiryField end={end} />
		</WriteForm>
	);
}
