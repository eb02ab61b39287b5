import { ApiFailure } from '../../../model/api-failure.js';
import type { DecisionDebug } from '../../../model/check/attempt.js';
import type { CheckBody } from '../../../model/check/check-form.js';
import type { TestFacts } from '../../../model/check/opa-test.js';
import { answered, management } from '../../api.js';
import { environmentPath } from '../../session.js';

/** Stored facts that are relevant to a check. */
export interface GatheredFacts {
	readonly facts: TestFacts;
	/** True if further facts may be relevant. */
	readonly truncated: boolean;
}

const per_page = 100;
/** Maximum depth and number of relationships to follow. */
const maxDepth = 5;
const maxRelationships = 300;

/** Reads the tenant, the user's roles, and the relationships that lead to the instance. Throws `ApiFailure`. */
export async function gatherFacts(
	{ user, resource }: CheckBody,
	{ request }: DecisionDebug,
	signal: AbortSignal,
): Promise<GatheredFacts> {
	const tenant = resource.tenant ?? 'default';
	const instance = resource.key === undefined ? null : `${resource.type}:${resource.key}`;
	const [isThere, tenantAttributes, assigned, home, related] = await Promise.all([
		found(readUser(user.key, signal)),
		found(readTenant(tenant, signal)),
		readAssignments(user.key, signal),
		instance === null ? null : found(readInstanceTenant(instance, signal)),
		instance === null ? { rows: [], truncated: false } : readRelationships(instance, signal),
	]);
	const instances = new Map<string, string>();
	if (instance !== null && home !== null) instances.set(instance, home);
	for (const { subject, object, tenant: where } of related.rows) instances.set(object, where).set(subject, where);
	for (const { instance: on, tenant: where } of assigned) if (on !== null) instances.set(on, where);
	return {
		facts: {
			user: isThere !== null,
			tenant: tenantAttributes,
			instances,
			assignments: assigned,
			relationships: related.rows,
			userAttributes: without(request?.user.attributes, ['key', 'roles', 'tenants'], user.attributes),
			instanceAttributes: without(request?.resource.attributes, ['key', 'type', 'tenant'], resource.attributes),
		},
		truncated: related.truncated || assigned.length === per_page,
	};
}

/**
 * Returns the stored attributes. These are the attributes that conditions see, without the facts and without the
 * attributes that the check sends.
 */
function without(
	seen: Readonly<Record<string, unknown>> = {},
	facts: readonly string[],
	sent: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
	return Object.fromEntries(
		Object.entries(seen).filter(([name]) => !facts.includes(name) && !Object.hasOwn(sent, name)),
	);
}

/** Resolves to the result of `read`, or to `null` after `not_found`. */
async function found<Value>(read: Promise<Value>): Promise<Value | null> {
	try {
		return await read;
	} catch (error) {
		if (error instanceof ApiFailure && error.status === 404) return null;
		throw error;
	}
}

async function readUser(user_id: string, signal: AbortSignal): Promise<string> {
	const path = { ...environmentPath(), user_id };
	return (await answered(management.GET('/v2/facts/{proj_id}/{env_id}/users/{user_id}', { params: { path }, signal })))
		.key;
}

async function readTenant(tenant_id: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
	const path = { ...environmentPath(), tenant_id };
	const { attributes } = await answered(
		management.GET('/v2/facts/{proj_id}/{env_id}/tenants/{tenant_id}', { params: { path }, signal }),
	);
	return attributes ?? {};
}

async function readInstanceTenant(instance_id: string, signal: AbortSignal): Promise<string> {
	const path = { ...environmentPath(), instance_id };
	const { tenant } = await answered(
		management.GET('/v2/facts/{proj_id}/{env_id}/resource_instances/{instance_id}', { params: { path }, signal }),
	);
	return tenant;
}

async function readAssignments(user: string, signal: AbortSignal) {
	const query = { user: [user], per_page };
	const rows = await answered(
		management.GET('/v2/facts/{proj_id}/{env_id}/role_assignments', {
			params: { path: environmentPath(), query },
			signal,
		}),
	);
	return (Array.isArray(rows) ? rows : rows.data).flatMap(
		({ user: who, role, tenant, resource_instance: instance }) => {
			// Lists with details contain objects for these members, not keys.
			if (typeof who !== 'string' || typeof role !== 'string' || typeof tenant !== 'string') return [];
			return typeof instance === 'object' && instance !== null ? [] : [{ user: who, role, tenant, instance }];
		},
	);
}

async function readRelationships(instance: string, signal: AbortSignal) {
	const rows: {
		readonly subject: string;
		readonly relation: string;
		readonly object: string;
		readonly tenant: string;
	}[] = [];
	const seen = new Set([instance]);
	let truncated = false;
	let object = [instance];
	for (let depth = 0; object.length > 0; depth += 1) {
		if (depth === maxDepth || rows.length >= maxRelationships) return { rows, truncated: true };
		const answer = await answered(
			management.GET('/v2/facts/{proj_id}/{env_id}/relationship_tuples', {
				params: { path: environmentPath(), query: { object, per_page } },
				signal,
			}),
		);
		const page = Array.isArray(answer) ? answer : answer.data;
		truncated ||= page.length === per_page;
		rows.push(...page);
		object = [...new Set(page.map(({ subject }) => subject))].filter((subject) => !seen.has(subject)).slice(0, 50);
		for (const subject of object) seen.add(subject);
	}
	return { rows, truncated };
}
