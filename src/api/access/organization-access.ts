import { parsePart } from '../../http/mount.js';
import { identify, unlessDeleted } from '../../store/account/authenticate.js';
import { type Caller, requireConfirmation } from '../../store/account/caller.js';
import type { Project } from '../../store/table/account.js';
import { type Contexts, ProjectPath } from '../access.js';
import { readCredentials } from '../console/credentials.js';
import { type Admit, defineAccess } from './access-rule.js';
import {
	authenticateAdmin,
	authenticateCaller,
	authenticateOrganizationWriter,
	authenticateWriter,
	refuseOtherLevels,
} from './authenticate-caller.js';

/** `public`: open to everyone. */
export const openAccess: Admit<Contexts['public']> = defineAccess({
	authenticate: async () => null,
	open: (_, run) => run(null),
});

/** `probe`: process state and version, open to everyone. */
export const probeAccess: Admit<Contexts['probe']> = defineAccess({
	authenticate: async () => null,
	open: (_, run, { monitoring }) => run(monitoring),
});

/**
 * `metrics`: an organization key, because metrics cover all environments. If the settings open the metrics, no key is
 * needed.
 */
export const metricsAccess: Admit<Contexts['metrics']> = defineAccess({
	authenticate: async (visit) => {
		if (!visit.monitoring.open) refuseOtherLevels(await authenticateCaller(visit), ['org']);
	},
	open: (_, run, { monitoring }) => run(monitoring),
});

/** `key`: any known API key, even a key without access, for data about the key itself. */
export const keyAccess: Admit<Contexts['key']> = defineAccess({
	authenticate: async ({ store, request }) => {
		const credentials = readCredentials(request);
		return unlessDeleted(store, credentials.authorization, () => identify(store, credentials));
	},
	open: (caller, run) => run({ caller }),
});

/** `organization.read`: any organization key. */
export const organizationReadAccess: Admit<Contexts['organization.read']> = defineAccess({
	authenticate: authenticateCaller,
	open: (caller, run, { store }) => run({ caller, account: store.account(caller.organization_id) }),
});

/** `organization.write`: an organization key that may write. */
export const organizationWriteAccess: Admit<Contexts['organization.write']> = defineAccess({
	authenticate: (visit) => authenticateOrganizationWriter(visit, ['org']),
	open: (caller, run, { store }) =>
		store.writeAccount(caller.organization_id, caller, (account) => run({ caller, account })),
});

/** `keys.read`: a key with the access level `admin`. `ApiKeys` limits the keys that the caller can see and change. */
export const keysReadAccess: Admit<Contexts['keys.read']> = defineAccess({
	authenticate: authenticateAdmin,
	open: (caller, run, { store }) => run({ caller, account: store.account(caller.organization_id) }),
});

/** `keys.manage`: like `keys.read`, in a transaction. */
export const keysManageAccess: Admit<Contexts['keys.manage']> = defineAccess({
	authenticate: authenticateAdmin,
	open: (caller, run, { store }) =>
		store.writeAccount(caller.organization_id, caller, (account) => run({ caller, account })),
});

/** `project.read`: a key with access to the project in the path. */
export const projectReadAccess: Admit<Contexts['project.read']> = defineAccess({
	authenticate: async (visit) => {
		const caller = await authenticateCaller(visit);
		const account = visit.store.account(caller.organization_id);
		const { proj_id } = await parsePart(ProjectPath, 'path', visit.request.params);
		return { caller, account, project: await account.project(caller, proj_id) };
	},
	open: (found, run) => run(found),
});

/** `project.write`: an organization or project key that may write. */
export const projectWriteAccess = changingProject(authenticateOrganizationWriter, () => {});

/** `project.delete`: like `project.write`. A console session must confirm the deletion with the project's key. */
export const projectDeleteAccess = changingProject(authenticateWriter, (caller, { key }) =>
	requireConfirmation(caller, 'project', key),
);

/** Finds the project in the path in a transaction. */
function changingProject(
	authenticate: typeof authenticateWriter,
	confirm: (caller: Caller, project: Project) => void,
): Admit<Contexts['project.write']> {
	return defineAccess({
		authenticate: async (visit) => {
			const caller = await authenticate(visit, ['org', 'project']);
			return { caller, ...(await parsePart(ProjectPath, 'path', visit.request.params)) };
		},
		open: ({ caller, proj_id }, run, { store }) =>
			store.writeAccount(caller.organization_id, caller, async (account) => {
				const project = await account.project(caller, proj_id);
				confirm(caller, project);
				return run({ caller, account, project });
			}),
	});
}
