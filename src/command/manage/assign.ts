import { ConfigError } from '../../config.js';
import { RoleAssignmentRead } from '../../wire/facts/role-assignment.js';
import type { Told } from '../declaration.js';
import { parseObject } from '../parse-object.js';
import { ask, askFor, path } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { visible } from '../terminal.js';

/** Options for a role assignment, with a tenant or an instance. */
export interface GrantOptions extends SharedOptions {
	/** Instance, as `type:key`. */
	readonly on?: string;
	/** Condition set under which the role is assigned. */
	readonly under?: string;
}

export interface AssignOptions extends GrantOptions {
	/** Role expiry, in ISO 8601. */
	readonly until?: string;
	/** Condition values, as JSON. */
	readonly values?: string;
}

export async function assign(session: Session, options: AssignOptions, user: string, role: string): Promise<Told> {
	const values = readValues(options);
	const named = grant(options, user, role);
	const body = { ...named, expires_at: options.until, condition: named.condition && { ...named.condition, values } };
	const { project, environment } = await session.place();
	const at = path`/v2/facts/${project}/${environment}/role_assignments`;
	const given = await askFor(session.api, at, RoleAssignmentRead, { method: 'POST', body });
	const { tenant, resource_instance, expires_at = null, condition } = given.body;
	const end = expires_at === null ? '' : ` until ${visible(expires_at)}`;
	return {
		text: `${sentence('Assigned', 'to', body)}${end} (revision ${given.revision})\n`,
		json: {
			...{ user, role, tenant, resource_instance, expires_at },
			...(condition !== undefined && { condition }),
			revision: given.revision,
		},
	};
}

export async function unassign(session: Session, options: GrantOptions, user: string, role: string): Promise<Told> {
	const body = grant(options, user, role);
	const { project, environment } = await session.place();
	const at = path`/v2/facts/${project}/${environment}/role_assignments`;
	const { revision } = await ask(session.api, at, { method: 'DELETE', body });
	const { tenant = null, resource_instance = null, condition } = body;
	return {
		text: `${sentence('Removed', 'from', body)} (revision ${revision})\n`,
		json: { user, role, tenant, resource_instance, ...(condition !== undefined && { condition }), revision },
	};
}

interface Grant {
	readonly user: string;
	readonly role: string;
	readonly tenant: string | undefined;
	readonly resource_instance: string | undefined;
	readonly condition: { readonly set: string } | undefined;
}

/**
 * Builds the request body for a role assignment. There is no default tenant, because a forgotten option could then
 * assign the role in the wrong tenant.
 */
function grant({ tenant, on, under }: GrantOptions, user: string, role: string): Grant {
	if (tenant === undefined && on === undefined) {
		throw new ConfigError('Specify a tenant (--tenant) or an instance (--on type:key).');
	}
	return { user, role, tenant, resource_instance: on, condition: under === undefined ? undefined : { set: under } };
}

/** Reads the condition values; `undefined` if there are none. */
function readValues({ under, values }: AssignOptions): object | undefined {
	if (values === undefined) return undefined;
	if (under === undefined) throw new ConfigError('--values: requires a condition set (--under)');
	return parseObject('--values', values);
}

function sentence(verb: string, preposition: string, { user, role, tenant, resource_instance, condition }: Grant) {
	const place = resource_instance === undefined ? `in tenant ${tenant}` : `on ${resource_instance}`;
	const under = condition === undefined ? '' : ` under ${condition.set}`;
	return visible(`${verb} role ${role} ${preposition} ${user} ${place}${under}`);
}
