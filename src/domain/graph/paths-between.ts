import { roleWords } from '../../../compiler/role-expression.js';
import { notFound, unprocessable } from '../../failure.js';
import { relationSteps } from '../../store/model/role-steps.js';
import type { InstanceRow } from '../../store/table/resource-instance.js';
import { Role, rolesOfResources } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { Graph } from '../../wire/facts/graph.js';
import { derivationSteps } from './derivation-steps.js';
import { findPaths, type PathGoal } from './find-paths.js';
import { rolesFollowingComputed } from './roles-following-computed.js';
import { pathsThroughTenant } from './tenant-paths.js';
import { asPath, type Path, type WrittenPaths, writePaths } from './write-paths.js';

/** Maximum number of paths in a response. */
export const maxPaths = 5;

/** A path graph without the fields that all graphs have in common. */
type PathParts = WrittenPaths & Pick<Graph, 'truncated'>;

/** The ends of the requested paths. */
export interface PathEnds {
	readonly from:
		| { readonly kind: 'user'; readonly id: string }
		| { readonly kind: 'instance'; readonly row: InstanceRow };
	readonly to: InstanceRow;
	/** Key of the final role; if absent, any role matches. */
	readonly role: string | undefined;
}

/**
 * Returns the shortest paths from a user or an instance to an instance or a role on it, with at most `limit` nodes.
 * Paths from a user follow assigned roles, roles in groups, and derivations. Without a role, they also follow the
 * user's tenant roles that allow an action on the instance. Paths from an instance to a role follow derivations from
 * any role on the first instance. Paths between two instances follow any relationships. Throws `not_found` if the
 * resource does not have the role, and `unprocessable` for a computed role and a role derived from one.
 */
export async function pathsBetween(unit: ReadingUnit, ends: PathEnds, limit: number): Promise<PathParts> {
	const { from, to, role } = ends;
	const { paths, more } = await findPaths(unit, await pathGoal(unit, ends), maxPaths);
	const start = { kind: from.kind, id: from.kind === 'user' ? from.id : from.row.id };
	const throughTenant = from.kind === 'user' && role === undefined ? await pathsThroughTenant(unit, from.id, to) : [];
	const all: Path[] = [...paths.map((path) => asPath(start, path)), ...throughTenant];
	all.sort((left, right) => left.length - right.length);
	const written = await writePaths(unit, start, all.slice(0, maxPaths), limit);
	return { ...written, truncated: more || written.paths.length < all.length };
}

async function pathGoal(unit: ReadingUnit, { from, to, role }: PathEnds): Promise<PathGoal> {
	const onInstance = (instance_id: string, ids: readonly string[]) => ids.map((role_id) => ({ role_id, instance_id }));
	if (from.kind === 'instance' && role === undefined) {
		return {
			from: onInstance(from.row.id, [from.row.resource_id]),
			to: onInstance(to.id, [to.resource_id]),
			steps: await relationSteps(unit),
		};
	}
	const roles = await rolesOfResources(unit, [to.resource_id]).all();
	const wanted = role === undefined ? roles : roles.filter(({ key }) => key === role);
	if (role !== undefined && wanted.length === 0) throw notFound(Role.title, role);
	const [only] = role === undefined ? [] : wanted;
	if (only?.computed) {
		const msg = `the role \`${only.key}\` is computed from ${roleWords(only.computed)}: request the paths to these roles instead`;
		throw unprocessable([{ loc: ['query', 'to'], msg, type: 'computed_role' }]);
	}
	if (only !== undefined && (await rolesFollowingComputed(unit)).has(only.id)) {
		const msg = `the role \`${only.key}\` is derived from a computed role, so paths to it cannot be listed: send a check to a decision point`;
		throw unprocessable([{ loc: ['query', 'to'], msg, type: 'computed_role' }]);
	}
	const ids = async (resourceId: string) => (await rolesOfResources(unit, [resourceId]).all()).map(({ id }) => id);
	return {
		from: from.kind === 'user' ? { user_id: from.id } : onInstance(from.row.id, await ids(from.row.resource_id)),
		to: onInstance(
			to.id,
			wanted.map(({ id }) => id),
		),
		steps: await derivationSteps(unit),
	};
}
