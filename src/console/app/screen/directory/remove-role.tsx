import { ActionButton } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { management } from '../../api.js';
import { confirmWrite } from '../../part/confirm.js';
import { reloadAll } from '../../use-loaded.js';

interface RemoveRoleProps {
	readonly user: string;
	readonly role: string;
	readonly tenant: string;
	/** Instance, as `<resource>:<key>`; `null` for a role in the tenant. */
	readonly instance: string | null;
	/** The assignment's condition key; absent if there is none. */
	readonly set?: string | undefined;
}

/** Button that removes a role assignment. */
export function RemoveRole({ user, role, tenant, instance, set }: RemoveRoleProps) {
	const under = set === undefined ? '' : ` under ${set}`;
	const what = `role ${role} from ${user} ${instance === null ? 'in' : 'on'} ${instance ?? tenant}${under}`;
	const remove = async () => {
		if (!(await confirmWrite('Remove role', `Remove ${what}?`, { always: true }))) return;
		const on = instance === null ? {} : { resource_instance: instance };
		const body = { user, role, tenant, ...on, ...(set !== undefined && { condition: { set } }) };
		await management.delete('/v2/facts/{proj_id}/{env_id}/role_assignments', { body });
		announce(`Removed ${what}.`);
		reloadAll();
	};
	return (
		<ActionButton act={remove} label={`Remove ${what}`}>
			Remove
		</ActionButton>
	);
}
