/** Adds the facts that a check carries to its input. The facts are validated like writes, and never stored. */

import { Failure, type Problem, unprocessable } from '../../failure.js';
import type { PermissionsQuery, Query } from '../../wire/decision/check.js';
import type { ContextualFacts } from '../../wire/decision/contextual-facts.js';
import { EngineError, type EngineInput, type Holdings } from '../engine/engine.js';
import { instanceType } from '../facts/instance-name.js';
import { contextualProblems } from './contextual-problems.js';
import { contextualDerivations, type PlacedRole, unsupportedTuples } from './contextual-roles.js';
import type { DecisionContext } from './decide.js';
import { type Mode, normalise, normalisePermissions, type PermissionsInput } from './normalise.js';

/** Location of a check in the request. */
export type CheckPlace = Problem['loc'];

/**
 * Returns the engine input for a check, with its contextual facts. Throws `Failure`: `contextual_facts_off` if the
 * environment does not allow them, `unprocessable` if they do not fit the schema, refer to unknown objects or are not
 * supported, and `unavailable` if the policy cannot be evaluated.
 */
export function checkInput(
	context: DecisionContext,
	query: Query,
	mode: Mode = 'edge',
	place: CheckPlace = ['body'],
): EngineInput {
	const input = normalise(query, context.time, mode);
	return query.contextual_facts ? withContextualFacts(context, input, query.contextual_facts, place) : input;
}

/** Returns the input for a permissions listing, with its contextual facts. Throws like `checkInput`. */
export function permissionsInput(
	context: DecisionContext,
	query: PermissionsQuery,
	mode: Mode = 'edge',
): PermissionsInput {
	const input = normalisePermissions(query, mode);
	if (!query.contextual_facts) return input;
	return { ...input, user: userWithFacts(context, input.user, query.contextual_facts, ['body']) };
}

/** Returns an input with contextual facts in addition to the stored facts. `place` is the check's. Throws like `checkInput`. */
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
	const { facts, denial, time } = context;
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
	const stored = new UserRoles(facts.instanceRoles.from(user.key, time));
	const own = (role_assignments ?? []).filter((assignment) => assignment.user === user.key);
	const added = stored.add(own.map(({ resource_instance, role }) => [resource_instance, role]));
	const withRoles = () => ({ ...user, holdings: stored.holdings() });
	const derives = tuples && tuples.length > 0 && (facts.hasUser(user.key) || facts.hasPublicRoles);
	if (!derives) return added ? withRoles() : user;
	try {
		// Each round adds the roles behind one more contextual relationship, until no role is added.
		for (let all = withRoles(); ; all = withRoles()) {
			const derived = contextualDerivations(context, all, tuples);
			if (stored.add(derived.map(({ object, role }) => [object, role]))) continue;
			// Without roles, a user who is not stored stays unknown.
			return Object.keys(all.holdings).length === 0 ? user : all;
		}
	} catch (error) {
		if (!(error instanceof EngineError)) throw error;
		throw new Failure('unavailable', 'the contextual facts could not be evaluated');
	}
}

/** A user's roles on instances, as the policy reads them. */
class UserRoles {
	readonly #byType = new Map<string, Map<string, Map<string, null>>>();

	constructor(roles: Iterable<PlacedRole>) {
		this.add(roles);
	}

	/** Adds roles. Returns true if at least one role is new. */
	add(roles: Iterable<PlacedRole>): boolean {
		let isNew = false;
		for (const [instance, role] of roles) {
			const type = instanceType(instance);
			const byRole = this.#byType.get(type) ?? new Map<string, Map<string, null>>();
			const instances = byRole.get(role) ?? new Map<string, null>();
			isNew ||= !instances.has(instance);
			this.#byType.set(type, byRole.set(role, instances.set(instance, null)));
		}
		return isNew;
	}

	/** Keys may be names of inherited object members. */
	holdings(): Holdings {
		return Object.fromEntries(
			Array.from(this.#byType, ([type, byRole]) => [
				type,
				Object.fromEntries(Array.from(byRole, ([role, instances]) => [role, Object.fromEntries(instances)])),
			]),
		);
	}
}
