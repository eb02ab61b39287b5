import { useSignal } from '@preact/signals';
import { type ExpiryText, expiryMember } from '../../../model/instants.js';
import { Failure, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { ExpiryField } from '../../../part/expiry-field.js';
import { answered, management } from '../../api.js';
import { confirmWrite } from '../../part/confirm.js';
import { type Choice, Combobox } from '../../part/field/combobox.js';
import { proposeInstanceNames, proposeRoles, proposeTenants, proposeUsers } from '../../propose.js';
import { environmentPath } from '../../session.js';
import { reloadAll } from '../../use-loaded.js';

interface AssignRoleProps {
	/** User who gets the role. If absent, the form asks for the user. */
	readonly user?: string;
	/**
	 * Place of the role: a tenant, or an instance `<resource>:<key>`. If neither is set, the form asks for the place.
	 */
	readonly tenant?: string;
	readonly instance?: string;
}

/** Form that assigns a role to a user in a tenant or on an instance, with an optional expiry. */
export function AssignRole({ user, tenant, instance }: AssignRoleProps) {
	const isPlaced = tenant !== undefined || instance !== undefined;
	const who = useSignal(user ?? '');
	const onInstance = useSignal(instance !== undefined);
	const place = useSignal(instance ?? tenant ?? '');
	const role = useSignal('');
	const end = useSignal<ExpiryText>('');
	const work = useWork();
	const set = (signal: { value: string }) => (value: string) => {
		signal.value = value;
	};
	const send = async () => {
		const where = onInstance.value ? { resource_instance: place.value } : { tenant: place.value };
		const assigned = `role ${role.value} to ${who.value} ${onInstance.value ? 'on' : 'in'} ${place.value}.`;
		if (!(await confirmWrite('Assign role', `Assign ${assigned}`))) return;
		const body = { user: who.value, role: role.value, ...where, ...expiryMember(end.value) };
		await answered(
			management.POST('/v2/facts/{proj_id}/{env_id}/role_assignments', { params: { path: environmentPath() }, body }),
		);
		announce(`Assigned ${assigned}`);
		role.value = '';
		reloadAll();
	};
	return (
		<details class="directory-write">
			<summary>Assign role</summary>
			<form class="columns" onSubmit={work.submit(send)}>
				{user === undefined && (
					<Combobox
						label="User"
						value={who.value}
						onValue={set(who)}
						propose={onInstance.value ? proposeHolders : proposeUsers}
						required
					/>
				)}
				{!isPlaced && (
					<label>
						<span>Scope</span>
						<select
							value={onInstance.value ? 'instance' : 'tenant'}
							onChange={(event) => {
								onInstance.value = event.currentTarget.value === 'instance';
								place.value = '';
								role.value = '';
							}}
						>
							<option value="tenant">Tenant</option>
							<option value="instance">Instance</option>
						</select>
					</label>
				)}
				{!isPlaced && (
					<Combobox
						key={onInstance.value ? 'instance' : 'tenant'}
						label={onInstance.value ? 'Instance' : 'Tenant'}
						placeholder={onInstance.value ? 'resource:key' : ''}
						value={place.value}
						onValue={set(place)}
						propose={onInstance.value ? proposeInstanceNames : proposeTenants}
						required
					/>
				)}
				<Combobox
					label="Role"
					value={role.value}
					onValue={set(role)}
					propose={proposeRoles(onInstance.value ? place.value : null)}
					required
				/>
				<ExpiryField end={end} />
				<div class="line whole">
					<button type="submit" class="primary" aria-disabled={work.busy}>
						Assign role
					</button>
				</div>
			</form>
			<Failure text={work.failure} />
		</details>
	);
}

/** Suggests users, and everyone for roles that are public. */
async function proposeHolders(text: string, signal: AbortSignal): Promise<readonly Choice[]> {
	const users = await proposeUsers(text, signal);
	return ['', '*'].includes(text) ? [{ value: '*', note: 'everyone, for public roles' }, ...users] : users;
}
