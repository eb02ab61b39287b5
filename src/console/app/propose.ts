import { type AssignableRole, everyone } from '../model/grant-condition.js';
import { management } from './api.js';
import type { Choice } from './part/field/combobox.js';

/** Suggestions from the server for text fields. All functions reject if the server cannot be reached. */

const per_page = 10;

/** Suggests users by key, name or e-mail address. */
export async function proposeUsers(text: string, signal: AbortSignal): Promise<readonly Choice[]> {
	const { data } = await management.get('/v2/facts/{proj_id}/{env_id}/users', { query: sought(text), signal });
	return data.map(({ key, email, first_name, last_name }) => {
		const name = [first_name, last_name].filter(Boolean).join(' ');
		return { value: key, note: name || (email === key ? null : email) };
	});
}

/** Suggests holders for a resource role: everyone, sets of users by a partial instance key, and users. */
export function proposeHolders({ isPublic, grantableTo }: AssignableRole) {
	return async (text: string, signal: AbortSignal): Promise<readonly Choice[]> => {
		const all = isPublic && ['', everyone].includes(text) ? [{ value: everyone, note: 'everyone' }] : [];
		const [instance = ''] = text.split('#');
		const [resource = '', key] = instance.split(':');
		const named = grantableTo.filter(({ on_resource }) => key !== undefined && on_resource === resource);
		const instances = named.length === 0 ? [] : await proposeInstanceKeys({ resource, tenant: '' }, key ?? '', signal);
		const sets = instances.flatMap(({ value, note }) =>
			named.map(({ role }) => ({ value: `${resource}:${value}#${role}`, note: note ?? null })),
		);
		return [...all, ...sets, ...(key === undefined ? await proposeUsers(text, signal) : [])];
	};
}

/** Suggests tenants by key or name. */
export async function proposeTenants(text: string, signal: AbortSignal): Promise<readonly Choice[]> {
	const found = await management.get('/v2/facts/{proj_id}/{env_id}/tenants', { query: sought(text), signal });
	return keysAndNames(found);
}

/** Suggests resources by key or name. */
export async function proposeResources(text: string, signal: AbortSignal): Promise<readonly Choice[]> {
	const found = await management.get('/v2/schema/{proj_id}/{env_id}/resources', { query: sought(text), signal });
	return keysAndNames(found);
}

/** Suggests a resource's actions by key or name. */
export async function proposeActions(resource: string, text: string, signal: AbortSignal): Promise<readonly Choice[]> {
	if (resource === '') return [];
	const query = { per_page: 100 };
	const found = await management.get('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/actions', {
		path: { resource_id: resource },
		query,
		signal,
	});
	const sought = text.toLowerCase();
	return keysAndNames(found).filter(({ value, note }) => `${value} ${note ?? ''}`.toLowerCase().includes(sought));
}

/** Suggests a resource's instances by key, in all tenants or in one tenant. */
export async function proposeInstanceKeys(
	{ resource, tenant }: { readonly resource: string; readonly tenant: string },
	text: string,
	signal: AbortSignal,
): Promise<readonly Choice[]> {
	const query = {
		per_page,
		...(resource !== '' && { resource: [resource] }),
		...(tenant !== '' && { tenant: [tenant] }),
		...(text !== '' && { search: [text] }),
	};
	const found = await management.get('/v2/facts/{proj_id}/{env_id}/resource_instances', { query, signal });
	return items(found).map(({ key, tenant: home }) => ({ value: key, note: `tenant ${home}` }));
}

/** Suggests instances as `<resource>:<key>`, by a partial key. */
export async function proposeInstanceNames(text: string, signal: AbortSignal): Promise<readonly Choice[]> {
	const key = text.slice(text.indexOf(':') + 1);
	const query = { per_page, ...(key !== '' && { search: [key] }) };
	const found = await management.get('/v2/facts/{proj_id}/{env_id}/resource_instances', { query, signal });
	return items(found).map(({ resource, key: own, tenant }) => ({ value: `${resource}:${own}`, note: `in ${tenant}` }));
}

/** Suggests revisions whose policies are still stored, newest first. */
export async function proposeRevisions(text: string, signal: AbortSignal): Promise<readonly Choice[]> {
	const query = { per_page: 100 };
	const { data } = await management.get('/v2/projects/{proj_id}/envs/{env_id}/policies', { query, signal });
	return data
		.map(({ schema_revision, published_at }) => ({
			value: String(schema_revision),
			note: `schema change, ${new Date(published_at).toLocaleString('en-GB')}`,
		}))
		.filter(({ value }) => value.startsWith(text))
		.slice(0, per_page);
}

/**
 * Suggests tenant roles, or an instance's resource roles. The instance is `<resource>:<key>`; an incomplete instance
 * has no suggestions.
 */
export function proposeRoles(instance: string | null) {
	return async (text: string, signal: AbortSignal): Promise<readonly Choice[]> => {
		if (instance === null) {
			const found = await management.get('/v2/schema/{proj_id}/{env_id}/roles', { query: sought(text), signal });
			return keysAndNames(found);
		}
		const [resource_id = '', key = ''] = instance.split(':');
		if (resource_id === '' || key === '') return [];
		const found = await management.get('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/roles', {
			path: { resource_id },
			query: sought(text),
			signal,
		});
		return keysAndNames(found);
	};
}

/** Suggests relations in which this resource's instances can be the object. */
export function proposeRelations(resource_id: string) {
	return async (text: string, signal: AbortSignal): Promise<readonly Choice[]> => {
		const { data } = await management.get('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/relations', {
			path: { resource_id },
			query: sought(text),
			signal,
		});
		return data.map(({ key, subject_resource }) => ({ value: key, note: `of ${subject_resource}` }));
	};
}

function sought(text: string) {
	return { per_page, ...(text !== '' && { search: text }) };
}

/** A list, or a list page. */
type Listed<Item> = readonly Item[] | { readonly data: readonly Item[] };

function items<Item>(found: Listed<Item>): readonly Item[] {
	return 'data' in found ? found.data : found;
}

function keysAndNames(found: Listed<{ readonly key: string; readonly name: string }>): readonly Choice[] {
	return items(found).map(({ key, name }) => ({ value: key, note: name === key ? null : name }));
}
