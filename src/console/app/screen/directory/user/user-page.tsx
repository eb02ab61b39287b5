import { userName } from '../../../../model/wording.js';
import { Section } from '../../../../part/section.js';
import { management } from '../../../api.js';
import { ButtonLink } from '../../../part/button-link.js';
import { LoadedFrame } from '../../../part/loaded-frame.js';
import { NameText } from '../../../part/name-text.js';
import { Screen } from '../../../part/screen.js';
import { TimeText } from '../../../part/time-text.js';
import { screenPath } from '../../../screen-path.js';
import { mayWrite } from '../../../session.js';
import { useLoaded } from '../../../use-loaded.js';
import { AssignRole } from '../assign-role.js';
import { AttributesSection } from '../attributes-form.js';
import { DeleteObject } from '../delete-object.js';
import { BackLink } from '../object-link.js';
import { UserDecisions } from './user-decisions.js';
import { UserNames } from './user-names.js';
import { UserPermissions } from './user-permissions.js';
import { UserRoles } from './user-roles.js';

/** User page: attributes, roles with their sources, permissions and latest decisions. */
export function UserPage({ name }: { readonly name: string }) {
	const loaded = useLoaded((signal) => readUser(name, signal), [name]);
	return (
		<Screen title={`User ${name}`} actions={<UserLinks name={name} />}>
			<BackLink tab="users">All users</BackLink>
			<LoadedFrame loaded={loaded}>
				{(user) => (
					<>
						<dl class="directory-facts">
							<dt>Name</dt>
							<dd>
								<NameText text={userName(user)} />
							</dd>
							<dt>Email</dt>
							<dd>{user.email === null ? 'none' : <NameText text={user.email} />}</dd>
							<dt>Created</dt>
							<dd>
								<TimeText at={user.created_at} />, updated <TimeText at={user.updated_at} />
							</dd>
						</dl>
						{mayWrite.value && <UserNames user={user} />}
						<Section id="roles" title="Roles">
							<UserRoles user={user.key} />
							{mayWrite.value && <AssignRole user={user.key} />}
						</Section>
						<AttributesSection
							name={user.key}
							attributes={user.attributes}
							save={(attributes) => changeUser(user.id, { attributes })}
						/>

						<UserPermissions user={user.key} />
						<UserDecisions user={user.key} />
						<DeleteObject
							tab="users"
							title="Delete user"
							text={`Delete user ${user.key}? This also deletes the user’s roles and requests, and denies all checks for this user.`}
							remove={() => deleteUser(user.id)}
						/>
					</>
				)}
			</LoadedFrame>
		</Screen>
	);
}

function UserLinks({ name }: { readonly name: string }) {
	return (
		<>
			<ButtonLink href={screenPath('check', { user: name })}>Check</ButtonLink>
			<ButtonLink href={screenPath('graph', { from: `user:${name}` })}>Graph</ButtonLink>
		</>
	);
}

function readUser(user_id: string, signal: AbortSignal) {
	return management.get('/v2/facts/{proj_id}/{env_id}/users/{user_id}', { path: { user_id }, signal });
}

function changeUser(user_id: string, body: { readonly attributes: Readonly<Record<string, unknown>> }) {
	return management.patch('/v2/facts/{proj_id}/{env_id}/users/{user_id}', { path: { user_id }, body });
}

function deleteUser(user_id: string) {
	return management.delete('/v2/facts/{proj_id}/{env_id}/users/{user_id}', { path: { user_id } });
}
