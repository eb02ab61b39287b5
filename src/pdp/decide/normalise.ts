/** Normalizes client input for the policy: consistent names, no empty or unknown fields. */

import type { PermissionsQuery, Query, UsersQuery } from '../../wire/decision/check.js';
import type { EngineInput } from '../engine/engine.js';

type Attributes = Readonly<Record<string, unknown>>;

/** Default tenant for checks. */
const defaultTenant = 'default';

/**
 * Deployment mode. An `edge` decision point runs next to the application; a `cloud` decision point serves all clients
 * and evaluates no conditions. The policy reads the mode from the context, regardless of client input.
 */
export type Mode = 'edge' | 'cloud';

/** Returns the engine input for a check at `time`, in milliseconds since 1970. */
export function normalise(query: Query, time: number, mode: Mode = 'edge'): EngineInput {
	return {
		user: user(query.user),
		action: query.action,
		resource: resource(query.resource),
		...contextMember(query.context, mode),
		time,
	};
}

/** Input for the authorized users listing: a check without user and time. */
export type UsersInput = Omit<EngineInput, 'user' | 'time'>;

/** Returns the engine input for an authorized users listing. */
export function normaliseUsers(query: UsersQuery, mode: Mode = 'edge'): UsersInput {
	return { action: query.action, resource: resource(query.resource), ...contextMember(query.context, mode) };
}

/** Input for a filter: a check without resource key and time. Without a tenant, it covers the rows of every tenant. */
export interface FilterInput extends Omit<EngineInput, 'resource' | 'time'> {
	readonly resource: Omit<EngineInput['resource'], 'key' | 'tenant'> & { readonly tenant?: string };
}

/** Returns the input for a filter. */
export function normaliseFilter(
	query: Pick<Query, 'user' | 'action' | 'resource' | 'context'>,
	mode: Mode = 'edge',
): FilterInput {
	const { type, tenant, attributes } = query.resource;
	return {
		user: user(query.user),
		action: query.action,
		resource: { type, ...(tenant ? { tenant } : {}), ...memberUnlessEmpty('attributes', attributes) },
		...contextMember(query.context, mode),
	};
}

/** Input for the permissions listing. */
export interface PermissionsInput {
	readonly user: EngineInput['user'];
	readonly tenants?: readonly string[];
	readonly resources?: readonly string[];
	readonly resource_types?: readonly string[];
	readonly context?: Attributes;
}

/** Returns the engine input for a permissions listing, without empty filters. */
export function normalisePermissions(
	query: Pick<PermissionsQuery, 'user'> & Partial<PermissionsQuery>,
	mode: Mode = 'edge',
): PermissionsInput {
	return {
		user: user(query.user),
		...(query.tenants?.length ? { tenants: query.tenants } : {}),
		...(query.resources?.length ? { resources: query.resources } : {}),
		...(query.resource_types?.length ? { resource_types: query.resource_types } : {}),
		...contextMember(query.context, mode),
	};
}

function contextMember(given: Attributes | null | undefined, mode: Mode): { readonly context?: Attributes } {
	if (mode === 'edge' && !given) return {};
	const { pdp_type: _, ...context } = given ?? {};
	return memberUnlessEmpty('context', mode === 'cloud' ? { ...context, pdp_type: 'cloud' } : context);
}

function resource(given: Query['resource']): EngineInput['resource'] {
	return {
		type: given.type,
		...(given.key ? { key: given.key } : {}),
		tenant: given.tenant || defaultTenant,
		...memberUnlessEmpty('attributes', given.attributes),
	};
}

function user(given: Query['user']): EngineInput['user'] {
	if ('set' in given && given.set !== undefined) {
		const { type, instance, role } = given.set;
		return { key: given.key, holdings: { [type]: { [role]: { [instance]: null } } } };
	}
	const named = {
		...textMember('email', given.email),
		...textMember('first_name', given.first_name ?? given.firstName),
		...textMember('last_name', given.last_name ?? given.lastName),
	};
	return { key: given.key, ...memberUnlessEmpty('attributes', { ...named, ...given.attributes }) };
}

function textMember<Name extends string>(
	name: Name,
	value: string | null | undefined,
): { readonly [name in Name]?: string } {
	return typeof value === 'string' ? ({ [name]: value } as { [name in Name]: string }) : {};
}

function memberUnlessEmpty<Name extends string>(
	name: Name,
	value: Attributes | null | undefined,
): { readonly [name in Name]?: Attributes } {
	if (!value || Object.keys(value).length === 0) return {};
	return { [name]: value } as { [name in Name]: Attributes };
}
