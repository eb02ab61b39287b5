/** Adds a check's contextual facts to its input. The facts are validated like writes, and never stored. */

import { Failure, type Problem, unprocessable } from '../../failure.js';
import type { PermissionsQuery, Query } from '../../wire/decision/check.js';
import type { ContextualFacts } from '../../wire/decision/contextual-facts.js';
import { EngineError, type EngineInput, type Holdings } from '../engine/engine.js';
import { instanceType } from '../facts/instance-name.js';
import { contextualProblems } from './contextual-problems.js';
import { contextualDerivations, type PlacedRole, unsupportedTuples } from './contextual-roles.js';
import type { DecisionContext } from './decide.js';
import {
	type FilterInput,
	type Mode,
	normalise,
	normaliseFilter,
	normalisePermissions,
	type PermissionsInput,
} from './normalise.js';

/** Location of a check in the request. */
export type CheckPlace = Problem['loc'];

/**
 * Returns the engine input for a check, with its contextual facts. Throws `Failure`: `contextual_facts_off` if the
 * environment does not allow contextual facts; `unprocessable` if they do not fit the schema, refer to unknown objects
 * or are not supported, or for a set of users with a computed role; `unavailable` if the policy cannot be evaluated.
 */
export function checkInput(
	context: DecisionContext,
	query: Query,
	mode: Mode = 'edge',
	place: CheckPlace = ['body'],
): EngineInput {
	refuseComputedSet(context, query, place);
	const input = normalise(query, context.time, mode);
	return query.contextual_facts ? withContextualFacts(context, input, query.contextual_facts, place) : input;
}

/** Rejects a set of users with a computed role, because inputs can contain only roles that are not computed. */
function refuseComputedSet({ facts }: DecisionContext, { user }: Pick<Query, 'user'>, place: CheckPlace): void {
	if (!('set' in user) || user.set === undefined) return;
	const { type, role } = user.set;
	if (facts.schema.computed(type, role) === undefined) return;
	const msg = `the role \`${role}\` on \`${type}\` is computed from other roles: use sets of users with the other roles`;
	throw unprocessable([{ loc: [...place, 'user', 'set'], msg, type: 'not_supported' }]);
}

/** Returns the input for a permission or tenant listing, with its contextual facts. Throws like `checkInput`. */
export function permissionsInput(
	context: DecisionContext,
	query: Pick<PermissionsQuery, 'user'> & Partial<PermissionsQuery>,
	mode: Mode = 'edge',
): PermissionsInput {
	refuseComputedSet(context, query, ['body']);
	const input = normalisePermissions(query, mode);
	if (!query.contextual_facts) return input;
	return { ...input, user: userWithFacts(context, input.user, query.contextual_facts, ['body']) };
}

/** Returns the input for a filter. `place` is the location of the query. Throws like `checkInput`. */
export function filterInput(
	context: DecisionContext,
	query: Parameters<typeof normaliseFilter>[0],
	mode: Mode = 'edge',
	place: CheckPlace = ['body'],
): FilterInput {
	refuseComputedSet(context, query, place);
	return normaliseFilter(query, mode);
}

/**
 * Returns an input with contextual facts in addition to the stored facts. `place` is the location of the check. Throws
 * like `checkInput`.
 */
export function withContextualFacts(
	context: FactsContext,
	input: EngineInput,
	given: ContextualFacts,
	place: CheckPlace,
): EngineInput {
	return { ...input, user: userWithFacts(context, input.user, given, place), contextual_facts: given };
}

type FactsContext = Pick<DecisionContext, 'engine' | 'facts' | 'denial' | 'time'>;

function userWithFacts(
	context: FactsContext,
	user: EngineInput['user'],
	given: ContextualFacts,
	place: CheckPlace,
): EngineInput['user'] {
	const { facts, denial } = context;
	// The check is denied in any case, and the index may be outdated.
	if (denial !== undefined) return user;
	if (!facts.allowsContextualFacts) {
		const message = 'the environment does not allow contextual facts: its setting `contextual_facts` is not true';
		throw new Failure('contextual_facts_off', message);
	}
	const at = [...place, 'contextual_facts'];
	if (user.holdings !== undefined) {
		throw unprocessable([
			{ loc: at, msg: 'contextual facts are for users, not for sets of users', type: 'not_supported' },
		]);
	}
	const { role_assignments, relationship_tuples: tuples } = given;
	const wrong = contextualProblems(facts, given, at);
	const problems = wrong.length > 0 ? wrong : unsupportedTuples(facts.schema, tuples ?? [], at);
	if (problems.length > 0) throw unprocessable(problems);
	const own = (role_assignments ?? []).flatMap(({ user: holder, role, resource_instance }): readonly PlacedRole[] =>
		holder === user.key ? [[resource_instance, role]] : [],
	);
	const derives = tuples && tuples.length > 0 && (facts.hasUser(user.key) || facts.hasPublicRoles);
	if (own.length === 0 && !derives) return user;
	const { hasStops } = facts.schema;
	const all = new UserRoles(
		storedRoles(context, user.key, derives && hasStops ? maxRolesPerRound : maxStoredRoles, at),
	);
	const withRoles = () => ({ ...user, holdings: all.holdings() });
	let added = all.add(own);
	if (!derives) return added.length > 0 ? withRoles() : user;
	let isChanged = false;
	try {
		// Each round adds the roles behind one more contextual relationship, until no role is added. Unless assigned roles
		// block derivations, each role is derived from one role, so a round needs only the roles of the previous round.
		for (let part: EngineInput['user'] = hasStops ? withRoles() : user; ; ) {
			const derived = contextualDerivations(context, part, tuples);
			added = [...added, ...all.add(derived.map(({ object, role }) => [object, role]))];
			if (added.length === 0) break;
			isChanged = true;
			part = hasStops ? withRoles() : { ...user, holdings: new UserRoles(added).holdings() };
			added = [];
		}
	} catch (error) {
		if (!(error instanceof EngineError)) throw error;
		throw new Failure('unavailable', 'the contextual facts could not be evaluated');
	}
	return isChanged ? withRoles() : user;
}

/**
 * Maximum number of stored instance roles for a user with contextual facts. The policy reads these roles from the
 * input, in one step.
 */
const maxStoredRoles = 5_000;
/** The same limit for checks with contextual relationships, where each round reads all roles. */
const maxRolesPerRound = 500;

/** Returns a user's stored roles on instances. Throws `unprocessable` if there are more than `most`. */
function storedRoles({ facts, time }: FactsContext, user: string, most: number, place: CheckPlace) {
	const roles: PlacedRole[] = [];
	// In the index, roles assigned to everyone belong to the user `everyone`, who is not stored.
	for (const role of facts.hasUser(user) ? facts.instanceRoles.from(user, time) : []) {
		roles.push(role);
		if (roles.length <= most) continue;
		const msg = `these contextual facts are not supported for users with more than ${most} roles on instances`;
		throw unprocessable([{ loc: place, msg, type: 'not_supported' }]);
	}
	return roles;
}

/** A user's roles on instances, as the policy reads them. */
class UserRoles {
	readonly #byType = new Map<string, Map<string, Map<string, null>>>();

	constructor(roles: Iterable<PlacedRole>) {
		this.add(roles);
	}

	/** Adds roles. Returns the new roles. */
	add(roles: Iterable<PlacedRole>): readonly PlacedRole[] {
		const added: PlacedRole[] = [];
		for (const placed of roles) {
			const [instance, role] = placed;
			const type = instanceType(instance);
			const byRole = this.#byType.get(type) ?? new Map<string, Map<string, null>>();
			const instances = byRole.get(role) ?? new Map<string, null>();
			if (!instances.has(instance)) added.push(placed);
			this.#byType.set(type, byRole.set(role, instances.set(instance, null)));
		}
		return added;
	}

	/** Uses `Object.fromEntries`, because a key may be `__proto__`. */
	holdings(): Holdings {
		return Object.fromEntries(
			Array.from(this.#byType, ([type, byRole]) => [
				type,
				Object.fromEntries(Array.from(byRole, ([role, instances]) => [role, Object.fromEntries(instances)])),
			]),
		);
	}
}
