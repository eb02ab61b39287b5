import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type DirectoryTab, directoryPath, directoryTabs, readDirectoryPath } from '../../../model/directory-path.js';
import { Screen } from '../../part/screen.js';
import { Tabs } from '../../part/tabs.js';
import { screenPath } from '../../screen-path.js';
import { useSearch } from '../../use-search.js';
import { GroupList } from './group/group-list.js';
import { GroupPage } from './group/group-page.js';
import { InstanceList } from './instance/instance-list.js';
import { InstancePage } from './instance/instance-page.js';
import { TenantList } from './tenant-list.js';
import { TenantPage } from './tenant-page.js';
import { UserList } from './user/user-list.js';
import { UserPage } from './user/user-page.js';

const lists = { users: UserList, tenants: TenantList, groups: GroupList, instances: InstanceList } as const;
const pages = { users: UserPage, tenants: TenantPage, groups: GroupPage, instances: InstancePage } as const;
const titles: Readonly<Record<DirectoryTab, string>> = {
	users: 'Users',
	tenants: 'Tenants',
	groups: 'Groups',
	instances: 'Instances',
};

/** The directory screen: users, tenants, groups and instances, with their details. */
export function DirectoryScreen() {
	const { path, route } = useLocation();
	const named = useSearch().get('user');
	// Other screens can link to a user by key, without the path for the users tab.
	useEffect(() => {
		if (named !== '') route(screenPath(directoryPath('users', named)), true);
	}, [named]);
	const { tab, key } = readDirectoryPath(path);
	if (key !== null) {
		const Page = pages[tab];
		return <Page key={`${tab} ${key}`} name={key} />;
	}
	const List = lists[tab];
	return (
		<Screen title="Directory" about="Users, tenants, groups and resource instances, with their roles and attributes.">
			<Tabs
				label="Directory sections"
				tabs={directoryTabs.map((name) => ({ name, title: titles[name], href: screenPath(directoryPath(name)) }))}
				open={tab}
			/>
			<List key={tab} />
		</Screen>
	);
}
