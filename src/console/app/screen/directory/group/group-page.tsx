import { ActionButton } from '../../../../part/action-button.js';
import { announce } from '../../../../part/announce.js';
import { Section } from '../../../../part/section.js';
import { management } from '../../../api.js';
import { ButtonLink } from '../../../part/button-link.js';
import { confirmWrite } from '../../../part/confirm.js';
import { LoadedFrame } from '../../../part/loaded-frame.js';
import { Screen } from '../../../part/screen.js';
import { actionColumn, PagedTable } from '../../../part/table/paged-table.js';
import { proposeUsers } from '../../../propose.js';
import { screenPath } from '../../../screen-path.js';
import { mayWrite } from '../../../session.js';
import { reloadAll, useLoaded } from '../../../use-loaded.js';
import { AddByKey } from '../add-by-key.js';
import { DeleteObject } from '../delete-object.js';
import { BackLink, ObjectLink } from '../object-link.js';
import { UserNameText } from '../user/user-name-text.js';
import { GroupNesting } from './group-nesting.js';
import { GroupRoles } from './group-roles.js';

/** Group page: members, their roles through the group, and nested groups. */
export function GroupPage({ name }: { readonly name: string }) {
	const loaded = useLoaded(
		(signal) =>
			management.get('/v2/schema/{proj_id}/{env_id}/groups/direct/{group_instance_key}', {
				path: { group_instance_key: name },
				signal,
			}),
		[name],
	);
	return (
		<Screen
			title={`Group ${name}`}
			actions={
				<>
					<ButtonLink href={screenPath(`directory/instances/${encodeURIComponent(name)}`)}>Instance</ButtonLink>
					<ButtonLink href={screenPath('graph', { from: `instance:${name}` })}>Graph</ButtonLink>
				</>
			}
		>
			<BackLink tab="groups">All groups</BackLink>
			<LoadedFrame loaded={loaded}>
				{({ id, group_tenant }) => (
					<>
						<dl class="directory-facts">
							<dt>Tenant</dt>
							<dd>
								<ObjectLink tab="tenants" name={group_tenant} />
							</dd>
						</dl>
						<Section id="members" title="Members">
							<GroupMembers group={name} tenant={group_tenant} />
						</Section>
						<Section id="roles" title="Member roles">
							<GroupRoles group={name} tenant={group_tenant} />
						</Section>
						<GroupNesting group={name} />
						<DeleteObject
							tab="groups"
							title="Delete group"
							text={`Delete group ${name}? Its members lose the roles of the group. The users are kept.`}
							remove={() =>
								management.delete('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}', {
									path: { group_instance_key: id },
								})
							}
						/>
					</>
				)}
			</LoadedFrame>
		</Screen>
	);
}

interface GroupProps {
	/** Group, as `<resource>:<key>`. */
	readonly group: string;
	readonly tenant: string;
}

/** Group members, with controls to add and remove them. */
function GroupMembers({ group, tenant }: GroupProps) {
	const memberPath = (user_id: string) => ({ group_instance_key: group, user_id });
	const remove = async (user: string) => {
		const said = `Remove ${user} from ${group}? The user loses the roles inherited from the group.`;
		if (!(await confirmWrite('Remove from group', said, { always: true }))) return;
		await management.delete('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/users/{user_id}', {
			path: memberPath(user),
			body: { tenant },
		});
		announce(`Removed ${user} from ${group}.`);
		reloadAll();
	};
	return (
		<>
			<PagedTable
				caption={`Members of ${group}`}
				parameter="users_page"
				dependencies={[group]}
				load={(query, signal) =>
					management.get('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/users', {
						path: { group_instance_key: group },
						query,
						signal,
					})
				}
				rowKey={({ id }) => id}
				columns={[
					{ title: 'User', cell: ({ key }) => <ObjectLink tab="users" name={key} /> },
					{ title: 'Name', cell: (user) => <UserNameText user={user} /> },
					...actionColumn(({ key }: { readonly key: string }) => (
						<ActionButton act={() => remove(key)} label={`Remove ${key} from ${group}`}>
							Remove
						</ActionButton>
					)),
				]}
				empty={<p class="quiet">No members.</p>}
			/>
			{mayWrite.value && (
				<AddByKey
					title="Add member"
					label="User"
					propose={proposeUsers}
					text={(user) => `Add ${user} to ${group}? The user gets the roles of the group.`}
					add={(user) =>
						management.put('/v2/schema/{proj_id}/{env_id}/groups/{group_instance_key}/users/{user_id}', {
							path: memberPath(user),
							body: { tenant },
						})
					}
				/>
			)}
		</>
	);
}
