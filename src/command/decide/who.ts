import { AuthorizedUsers } from '../../wire/decision/check.js';
import type { Told } from '../declaration.js';
import { parseResource } from '../resource-word.js';
import { askFor } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { table, visible } from '../terminal.js';
import { tenantPlace } from './tenant-place.js';

/** Lists the users who may perform an action on a resource, with their role assignments. */
export async function who(
	{ decisionPoint }: Session,
	{ tenant }: SharedOptions,
	action: string,
	resource: string,
): Promise<Told> {
	const body = {
		action,
		resource: { ...parseResource(resource), tenant },
		// Includes users allowed only by conditions.
		context: { enable_abac_authorized_users: true },
	};
	const answer = await askFor(decisionPoint, '/authorized_users', AuthorizedUsers, { method: 'POST', body });
	const about = { action, resource: answer.body.resource, tenant: answer.body.tenant, revision: answer.revision };
	const users = Object.entries(answer.body.users).map(([user, given]) => ({
		user,
		assignments: given.map(({ role, resource, tenant, condition }) => ({
			...{ role, resource, tenant },
			...(condition !== undefined && { condition }),
		})),
	}));
	const rows = users.flatMap(({ user, assignments }) =>
		assignments.length === 0
			? [[user, '-', 'conditions']]
			: assignments.map(({ role, resource: place, condition }) => [
					user,
					condition === undefined ? role : `${role} under ${condition.set}`,
					placeText(place),
				]),
	);
	const nobody = `no user may ${visible(action)} ${visible(about.resource)} in tenant ${visible(about.tenant)}\n`;
	return {
		text: rows.length === 0 ? nobody : table(['USER', 'ROLE', 'ON'], rows),
		json: { ...about, users },
	};
}

function placeText(place: string): string {
	const tenant = tenantPlace(place);
	return tenant === null ? place : `tenant ${tenant}`;
}
