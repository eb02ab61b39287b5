import { Failure } from '../../src/failure.js';
import { onEachStore } from '../support/each-store.js';
import { scopeIn } from '../support/scope.js';

/** Requests without an environment lock. Their parent objects may be deleted between the read and the write. */

const journey = onEachStore({ embedded: 'all' });

journey('a write under a concurrently deleted object fails as if the object never existed', async (t, place, site) => {
	const { store, id, project_id, organization_id, key } = place;
	const scope = await scopeIn(place);
	const gone = await site.organization.post<{ readonly id: string }>('/v2/projects', {
		key: `of-${key}`,
		name: 'Gone',
	});
	t.is((await site.organization.delete(`/v2/projects/of-${key}`)).status, 204);
	t.is((await site.organization.delete(`/v2/projects/default/envs/${key}`)).status, 204);
	const made = { access_level: 'read', owner_type: 'member', name: null } as const;
	const createKey = (opened: { readonly project_id: string; readonly environment_id: string | null }) =>
		store.writeAccount(organization_id, null, (account) => account.keys.create({ ...made, ...opened }));
	const report = { pdp_instance_id: 'a', api_key_id: place.key_id, state: {} };
	const writes: Readonly<Record<string, () => Promise<unknown>>> = {
		'a decision point report': () => store.pdpInstances(scope).keep(report, store.clock.now()),
		'a running copy': () => store.copyTasks(id).add(store.clock.newId()),
		'an environment key': () => createKey({ project_id, environment_id: id }),
		'a project key': () => createKey({ project_id: gone.body.id, environment_id: null }),
		'an environment': () =>
			store.writeAccount(organization_id, null, (account) =>
				account.createEnvironment(gone.body.id, 'e', { name: 'E' }),
			),
	};
	for (const [what, write] of Object.entries(writes)) {
		const error = await t.throwsAsync(write, { instanceOf: Failure }, what);
		t.is(error?.code, 'not_found', what);
	}
});
