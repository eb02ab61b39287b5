import { useRef } from 'preact/hooks';
import type { ElementRole, ListedUser } from '../model/api-types.js';
import { mayManage, mayRemove } from '../model/element/levels.js';
import { visibleText } from '../model/visible-text.js';
import { userName } from '../model/wording.js';
import { ActionButton } from '../part/action-button.js';
import { Button } from '../part/button.js';
import { GiveRole } from './give-role.js';
import type { OpenedElement } from './opened-element.js';

interface UserItemProps {
	readonly element: OpenedElement;
	readonly user: ListedUser;
	readonly roles: readonly ElementRole[];
	/** Roles that the signed-in user may assign and remove. */
	readonly assignable: readonly ElementRole[];
	readonly onChanged: (said: string) => Promise<void>;
}

/**
 * A user with the roles that the user has here. Contains controls to assign a role, to remove a role, and to remove the
 * user.
 */
export function UserItem({ element, user, roles, assignable, onChanged }: UserItemProps) {
	const { api, instance, level } = element;
	const path = `${element.path()}/data/users/${encodeURIComponent(user.id)}`;
	const question = useRef<HTMLDialogElement>(null);
	const name = userName(user);
	const held = rolesHere(element, user);
	const pending = user.associated_tenants.some(
		({ tenant, status }) => tenant === element.actor.tenant_key && status === 'pending',
	);
	const holds = (key: string) => held.some(({ role }) => role === key);
	const heldLevels = roles.filter(({ key }) => holds(key)).map(({ permission_level }) => permission_level);
	const body = (role: string) => ({ role, ...(instance !== null && { resource_instance_id: instance }) });
	const called = (key: string) => visibleText(roles.find((role) => role.key === key)?.name ?? key);
	const email = user.email === null ? null : visibleText(user.email);
	const assigned = held.flatMap(({ role, condition }) => (condition === undefined ? [role] : []));
	const given = assignable.filter(({ key }) => !assigned.includes(key));
	return (
		<li>
			<div class="line">
				<strong>{name}</strong>
				{email !== null && email !== name && <span class="quiet">{email}</span>}
				{pending && <span class="state pending">invited</span>}
			</div>
			<ul class="roles" aria-label={`Roles of ${name}`}>
				{held.map(({ role: key, condition }) => (
					<li key={`${key} ${condition?.set ?? ''}`}>
						{called(key)}
						{condition !== undefined && ` under ${visibleText(condition.set)}`}
						{condition === undefined && assignable.some((role) => role.key === key) && (
							<ActionButton
								label={`Remove role ${called(key)} from ${name}`}
								act={async () => {
									await api.send('DELETE', `${path}/roles`, body(key));
									await onChanged(`Removed role ${called(key)} from ${name}.`);
								}}
							>
								×
							</ActionButton>
						)}
					</li>
				))}
			</ul>
			{mayManage(level) && (
				<div class="line">
					{!pending && (
						<GiveRole
							name={name}
							roles={given}
							give={async (role, ending) => {
								await api.send('POST', `${path}/roles`, { ...body(role.key), ...ending });
								await onChanged(`Assigned role ${role.name} to ${name}.`);
							}}
						/>
					)}
					{mayRemove(level, heldLevels) && (
						<Button aria-label={`Remove ${name}`} onClick={() => question.current?.showModal()}>
							Remove…
						</Button>
					)}
				</div>
			)}
			<dialog ref={question} aria-label={`Remove ${name}?`}>
				<p>
					Remove <strong>{name}</strong> and all of their roles here?
				</p>
				<div class="line">
					<ActionButton
						act={async () => {
							const where = instance === null ? '' : `?${new URLSearchParams({ resource_instance_id: instance })}`;
							await api.send('DELETE', `${path}${where}`);
							question.current?.close();
							await onChanged(`Removed ${name}.`);
						}}
					>
						Remove
					</ActionButton>
					<Button onClick={() => question.current?.close()}>Cancel</Button>
				</div>
			</dialog>
		</li>
	);
}

/** A role assigned to a user. */
interface HeldRole {
	readonly role: string;
	/** Absent for an unconditional role. */
	readonly condition?: { readonly set: string } | undefined;
}

/** Returns a user's roles in the session's tenant, or on the page's instance. */
function rolesHere({ actor, instance }: OpenedElement, { associated_tenants }: ListedUser): readonly HeldRole[] {
	const here = associated_tenants.find(({ tenant }) => tenant === actor.tenant_key);
	if (here === undefined) return [];
	if (instance === null) return here.roles.map((role) => ({ role }));
	const named = ({ resource, resource_instance }: { resource: string; resource_instance: string }) =>
		[resource_instance, `${resource}:${resource_instance}`].includes(instance);
	return (here.resource_instance_roles ?? []).filter(named);
}
