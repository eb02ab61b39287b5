import { useSignal } from '@preact/signals';
import {
	type AssignableRole,
	type ConditionForm,
	everyone,
	holderProblem,
	noCondition,
	readConditionForm,
	userSetText,
} from '../../../model/grant-condition.js';
import { type ExpiryText, expiryMember } from '../../../model/instants.js';
import { visibleText } from '../../../model/visible-text.js';
import { announce } from '../../../part/announce.js';
import { ExpiryField } from '../../../part/expiry-field.js';
import { SelectField } from '../../../part/select-field.js';
import { bound } from '../../../part/setter.js';
import { management } from '../../api.js';
import { confirmWrite } from '../../part/confirm.js';
import { Combobox } from '../../part/field/combobox.js';
import { proposeHolders, proposeInstanceNames, proposeRoles, proposeTenants, proposeUsers } from '../../propose.js';
import { reloadAll, useSideData } from '../../use-loaded.js';
import { useSettled } from '../../use-settled.js';
import { ConditionFields } from './condition-fields.js';
import { readAssignableRole } from './read-assignable-role.js';
import { WriteForm } from './write-form.js';

interface AssignRoleProps {
	/** User who gets the role. If absent, the form asks for the user. */
	readonly user?: string;
	/**
	 * Place of the role: a tenant, or an instance `<resource>:<key>`. If neither is set, the form asks for the place.
	 */
	readonly tenant?: string;
	readonly instance?: string;
}

/** Form that assigns a role in a tenant or on an instance, with an optional expiry and condition. */
export function AssignRole({ user, tenant, instance }: AssignRoleProps) {
	const isPlaced = tenant !== undefined || instance !== undefined;
	const who = useSignal(user ?? '');
	const onInstance = useSignal(instance !== undefined);
	const place = useSignal(instance ?? tenant ?? '');
	const role = useSignal('');
	const end = useSignal<ExpiryText>('');
	const condition = useSignal<ConditionForm>(noCondition);
	const [resource = '', key = ''] = onInstance.value ? place.value.split(':') : [];
	const asked = useSettled(key === '' || role.value === '' ? '' : `${resource}:${role.value}`, 200);
	const found = useSideData(
		async (signal) => (asked === '' ? null : readAssignableRole(resource, role.value, signal)),
		[asked],
	);
	/** Rules of the chosen role; `null` until they are loaded, and for a tenant role. */
	const rules = found.value?.resource === resource && found.value.key === role.value ? found.value : null;
	const setRole = (value: string) => {
		role.value = value;
		condition.value = noCondition;
	};
	const send = async () => {
		const { set: chosen } = condition.value;
		const known =
			rules ?? (key === '' ? null : await readAssignableRole(resource, role.value, AbortSignal.timeout(30_000)));
		if (rules === null && known !== null && known.conditions.length > 0)
			throw new Error(
				'This role has conditions. Choose a condition, or select “Assign role” again to assign the role without one.',
			);
		const problem = known === null ? null : holderProblem(who.value, known, chosen);
		if (problem !== null) throw new Error(problem);
		const read = readConditionForm(condition.value, known?.conditions ?? [], `role ${role.value}`);
		const under = read !== null && { condition: read };
		const where = onInstance.value ? { resource_instance: place.value } : { tenant: place.value };
		const to = `${who.value} ${onInstance.value ? 'on' : 'in'} ${place.value}`;
		const assigned = `role ${role.value} to ${to}${read === null ? '' : ` under ${chosen}`}.`;
		if (!(await confirmWrite('Assign role', `Assign ${assigned}`))) return;
		const body = { user: who.value, role: role.value, ...where, ...expiryMember(end.value), ...under };
		await management.post('/v2/facts/{proj_id}/{env_id}/role_assignments', { body });
		announce(`Assigned ${assigned}`);
		setRole('');
		reloadAll();
	};
	return (
		<WriteForm title="Assign role" send={send}>
			{!isPlaced && (
				<SelectField
					label="Scope"
					value={onInstance.value ? 'instance' : 'tenant'}
					options={{ tenant: 'Tenant', instance: 'Instance' }}
					onValue={(value) => {
						onInstance.value = value === 'instance';
						place.value = '';
						setRole('');
					}}
				/>
			)}
			{!isPlaced && (
				<Combobox
					key={onInstance.value ? 'instance' : 'tenant'}
					label={onInstance.value ? 'Instance' : 'Tenant'}
					placeholder={onInstance.value ? 'resource:key' : ''}
					value={place.value}
					onValue={(value) => {
						place.value = value;
						condition.value = noCondition;
					}}
					propose={onInstance.value ? proposeInstanceNames : proposeTenants}
					required
				/>
			)}
			<Combobox
				label="Role"
				value={role.value}
				onValue={setRole}
				propose={proposeRoles(onInstance.value ? place.value : null)}
				required
			/>
			{user === undefined && (
				<Combobox
					label="User"
					{...bound(who)}
					propose={rules === null ? proposeUsers : proposeHolders(rules)}
					required
				/>
			)}
			<ExpiryField end={end} />
			{user === undefined && rules !== null && <Holders role={rules} />}
			{rules !== null && rules.conditions.length > 0 && (
				<ConditionFields grant="role" conditions={rules.conditions} form={condition} />
			)}
		</WriteForm>
	);
}

/** Lists the possible holders other than single users. */
function Holders({ role: { isPublic, grantableTo } }: { readonly role: AssignableRole }) {
	const sets = grantableTo.map((one) => visibleText(userSetText(one))).join(', ');
	return (
		<>
			{isPublic && (
				<small class="quiet whole">This role is public: to assign it to everyone, enter {everyone} as the user.</small>
			)}
			{sets !== '' && <small class="quiet whole">Can be assigned to sets of users: {sets}</small>}
		</>
	);
}
