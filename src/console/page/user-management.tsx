import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ElementConfig, ElementRole, ListedUser, Paginated } from '../model/api-types.js';
import { mayAssign, mayManage, maySee, weakestFirst } from '../model/element/levels.js';
import { announce } from '../part/announce.js';
import { PagedListFrame, perPage, usePagedList } from '../part/paged-list.js';
import { Section } from '../part/section.js';
import { setter } from '../part/setter.js';
import { AddUser } from './add-user.js';
import { LinkedInbox } from './approval-management.js';
import { type OpenedElement, requestsSetting } from './opened-element.js';
import { UserItem } from './user-item.js';

/** Users of a tenant or an instance, with their roles. Shown to the users who manage them. */
export function UserManagement({ element }: { readonly element: OpenedElement }) {
	const { api, level, instance } = element;
	const data = `${element.path()}/data`;
	const search = useSignal('');
	const roles = useSignal<readonly ElementRole[]>([]);
	const linked = useSignal<ElementConfig | null>(null);
	const sees = maySee(level);
	const list = usePagedList<ListedUser>(
		async (page) => {
			if (!sees) return { data: [], total_count: 0, page_count: 0 };
			const query = { search: search.value || null, resource_instance_id: instance, page, per_page: perPage };
			return api.get<Paginated<ListedUser>>(`${data}/users`, query);
		},
		[element, search.value],
	);
	useEffect(() => {
		if (!sees) return;
		const query = { resource_instance_id: instance, per_page: 100 };
		api.get<readonly ElementRole[]>(`${data}/roles`, query).then(
			setter(roles),
			// Ignore failures: the page works without role names. If the API is down, the user list reports the failure.
			() => {},
		);
		element.linked(requestsSetting).then(setter(linked), () => {});
	}, [element]);
	if (!sees) return <p>You do not have access to this page.</p>;
	const assignable = weakestFirst(roles.value.filter(({ permission_level }) => mayAssign(level, permission_level)));
	const changed = async (said: string) => {
		announce(said);
		await list.reload();
	};
	return (
		<>
			{level === 'LEVEL_1' && linked.value !== null && <LinkedInbox element={element} config={linked.value} />}
			<Section id="users" title="Users">
				<search>
					<label class="inline">
						<span>Search</span>
						<input
							type="search"
							value={search.value}
							onChange={(event) => {
								search.value = event.currentTarget.value.trim();
							}}
						/>
					</label>
				</search>
				<ul class="items">
					{list.found.value?.data.map((user) => (
						<UserItem
							key={user.id}
							element={element}
							user={user}
							roles={roles.value}
							assignable={mayManage(level) ? assignable : []}
							onChanged={changed}
						/>
					))}
				</ul>
				<PagedListFrame list={list} empty="No matching users." />
			</Section>
			{mayManage(level) && element.config.settings['show_add_user'] !== false && (
				<AddUser element={element} roles={assignable} onAdded={changed} />
			)}
		</>
	);
}
