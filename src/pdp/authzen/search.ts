/**
 * AuthZEN searches. An evaluation with the same inputs allows each result. The facts index decides users and instances,
 * and the policy confirms a sample; the policy decides actions and sets of users. Results are sorted by code unit. A
 * page begins after the last result on the previous page. Concurrent writes therefore neither repeat nor skip results
 * that they do not affect.
 */

import { Pauses, type Steps } from '../../../compiler/steps.js';
import {
	type ActionSearch,
	maxResults,
	type ResourceSearch,
	type SearchPage,
	type SubjectSearch,
} from '../../wire/decision/authzen.js';
import { withContextualFacts } from '../decide/contextual-facts.js';
import type { DecisionContext } from '../decide/decide.js';
import type { Mode } from '../decide/normalise.js';
import { enough, forEachItem, sortedBy } from '../engine/chunks.js';
import type { EngineInput } from '../engine/engine.js';
import { NeedsEngine } from '../facts/compiled-sets.js';
import { GrantConditions } from '../facts/grant-conditions.js';
import { instanceName, instanceType, parseInstanceName } from '../facts/instance-name.js';
import { openedTenants } from '../facts/opened-tenants.js';
import { leadingTo, rolesOnInstances, type UserRoles } from '../facts/role-walk.js';
import { usersWhoMay } from '../listing/authorized-users.js';
import { pageToken, readPageToken } from '../listing/page-token.js';
import { PermittedActions } from '../listing/permitted-actions.js';
import { answerWithReferee, randomItems, sampleSize } from '../listing/referee.js';
import { userTest } from '../listing/user-test.js';
import { type EvaluationReading, evaluationInput, isHolder, tenantAsked } from './input.js';

export interface SearchSettings {
	readonly mode: Mode;
	/** Subject types that are users. */
	readonly subjectTypes: ReadonlySet<string>;
}

/** A page of ids or names. */
export interface Found {
	readonly found: readonly string[];
	/** Token for the next page; empty on the last page. Absent if the request has no `page` and all results fit. */
	readonly next?: string;
}

/** Finds user keys. Throws `Failure` (`invalid`) if the page token belongs to a different search. */
export function* searchSubjects(
	context: DecisionContext,
	search: SubjectSearch,
	settings: SearchSettings,
): Steps<Found> {
	const { page, ...request } = search;
	const pages = new Pages(page, ['subject', request]);
	if (!settings.subjectTypes.has(search.subject.type)) {
		return yield* pages.take(context, yield* setsThatMay(context, search, settings));
	}
	const subject = { ...search.subject, id: '' };
	const question = evaluationInput({ ...search, subject }, evaluationReading(context, settings));
	const { users, byRoles } = yield* usersWhoMay(context, question, question.user.attributes);
	return yield* pages.take(context, {
		candidates: users,
		inputFor: (key) => ({ ...question, user: { ...question.user, key } }),
		testFromFacts: () => {
			const selects = userTest(context.facts, question, context.time);
			const holders = byRoles();
			return (key) => holders.has(key) || selects(key, question.user.attributes);
		},
	});
}

/**
 * Finds instance keys. Each instance is checked in its own tenant unless the request contains a tenant. Throws like
 * `searchSubjects`.
 */
export function* searchResources(
	context: DecisionContext,
	search: ResourceSearch,
	settings: SearchSettings,
): Steps<Found> {
	const { page, ...request } = search;
	const pages = new Pages(page, ['resource', request]);
	if (!isHolder(search.subject, evaluationReading(context, settings))) return pages.none;
	const { type } = search.resource;
	const resource = { ...search.resource, id: '' };
	const question = withFacts(
		context,
		evaluationInput({ ...search, resource }, evaluationReading(context, settings)),
		search,
	);
	const { facts, time } = context;
	const tenantOf = (key: string) => facts.tenantKey(instanceName({ type, key })) ?? question.resource.tenant;
	const conditions = new GrantConditions(facts, { user: question.user, context: question.context }, time);
	const roles = yield* rolesOnInstances(facts, question.user, time, { conditions });
	return yield* pages.take(context, {
		candidates: yield* instancesThatMayBe(context, question, tenantAsked(search), roles),
		inputFor: (key) => ({ ...question, resource: { ...question.resource, key, tenant: tenantOf(key) } }),
		testFromFacts: () => {
			if (roles.uncertain) throw new NeedsEngine('a condition of an assignment contains a regular expression');
			const { user, action, resource } = question;
			const rules = question.context?.['pdp_type'] === 'cloud' ? 'none' : 'all';
			const sent = { context: question.context, resource: resource.attributes };
			const permitted = new PermittedActions(facts, { user, ...sent, time, rules, held: roles.held });
			return (key) => permitted.permits(action, instanceName({ type, key }));
		},
	});
}

/** Finds action keys. Throws like `searchSubjects`. */
export function* searchActions(context: DecisionContext, search: ActionSearch, settings: SearchSettings): Steps<Found> {
	const { page, ...request } = search;
	const pages = new Pages(page, ['action', request]);
	if (!isHolder(search.subject, evaluationReading(context, settings))) return pages.none;
	const anything = evaluationInput({ ...search, action: { name: '' } }, evaluationReading(context, settings));
	const question = withFacts(context, anything, search);
	const actions = context.facts.schema.actions(search.resource.type);
	return yield* pages.take(context, { candidates: actions, inputFor: (action) => ({ ...question, action }) });
}

function withFacts(
	context: DecisionContext,
	question: EngineInput,
	{ contextual_facts: given }: Pick<ResourceSearch, 'contextual_facts'>,
): EngineInput {
	return given ? withContextualFacts(context, question, given, ['body']) : question;
}

function evaluationReading({ facts, time }: DecisionContext, settings: SearchSettings): EvaluationReading {
	return { facts, time, ...settings };
}

/**
 * Returns the sets of users that a check may allow, as `<key>#<role>` on instances of the subject type. If public roles
 * or condition sets may grant the action, returns all sets with assignable roles.
 */
function* setsThatMay(context: DecisionContext, search: SubjectSearch, settings: SearchSettings): Steps<Candidates> {
	const { facts, time } = context;
	const { schema } = facts;
	const { type } = search.subject;
	const reading = evaluationReading(context, settings);
	const question = (id: string) => evaluationInput({ ...search, subject: { type, id } }, reading);
	const { action, resource } = question('');
	const roles = schema.rolesOn(type).filter((role) => schema.computed(type, role) === undefined);
	const candidates: string[] = [];
	const pauses = new Pauses();
	if (facts.hasPublicRoles || schema.setsMayGrant(resource.type, action)) {
		for (const name of roles.length === 0 ? [] : facts.instances) {
			if (pauses.step()) yield;
			if (instanceType(name) !== type) continue;
			for (const role of roles) candidates.push(`${parseInstanceName(name).key}#${role}`);
		}
	} else {
		const granting = schema.instanceRolesThatGrant(resource.type, action);
		const destination = {
			roles: granting,
			instance: instanceName({ type: resource.type, key: resource.key ?? '' }),
			time,
		};
		for (const { role, instance } of (yield* leadingTo(facts, destination, new Set())).nodes) {
			if (pauses.step()) yield;
			if (instanceType(instance) !== type || !roles.includes(role)) continue;
			candidates.push(`${parseInstanceName(instance).key}#${role}`);
		}
	}
	return { candidates, inputFor: question };
}

/**
 * Returns the keys of all instances with the type, in the tenant or anywhere, on which a check may allow the action.
 */
function* instancesThatMayBe(
	{ facts, time }: DecisionContext,
	{ user, action, resource: { type } }: EngineInput,
	tenant: string | undefined,
	{ reached }: UserRoles,
): Steps<Iterable<string>> {
	const opened = (yield* openedTenants(facts, user.key, time))(type, action);
	const byConditions = facts.schema.setsMayGrant(type, action);
	const keys: string[] = [];
	const pauses = new Pauses();
	// Outside the walk's result, only tenant roles and conditions can allow an action on an instance.
	for (const number of byConditions || opened.size > 0 ? facts.instanceTenants.numbers() : reached.keys()) {
		if (pauses.step()) yield;
		const own = facts.instanceTenants.at(number);
		if (own === undefined || (tenant ?? facts.names.text(own)) !== facts.names.text(own)) continue;
		const name = parseInstanceName(facts.names.text(number));
		if (name.type === type && (byConditions || opened.has(own) || reached.has(number))) keys.push(name.key);
	}
	return keys;
}

/** Selects the requested page of the results. */
class Pages {
	/** Response to a search without results. */
	readonly none: Found;
	readonly #request: unknown;
	readonly #limit: number;
	readonly #asked: boolean;
	/** Last result on the previous page; undefined for the first page. */
	readonly #last: string | undefined;

	/** `request` identifies the search. Throws `Failure` (`invalid`) if the page token belongs to a different search. */
	constructor(page: SearchPage, request: unknown) {
		this.#request = request;
		this.#asked = page !== undefined && page !== null;
		this.#limit = Math.min(page?.limit ?? maxResults, maxResults);
		this.#last = page?.token ? readPageToken(page.token, request, 'page.token') : undefined;
		this.none = this.#asked ? { found: [], next: '' } : { found: [] };
	}

	/** Decides candidates in order until the page is full. */
	*take(context: DecisionContext, { candidates, inputFor, testFromFacts }: Candidates): Steps<Found> {
		const last = this.#last;
		const ahead = yield* sortedBy(
			last === undefined ? candidates : yield* after(candidates, last),
			(candidate) => candidate,
		);
		const limit = this.#limit;
		const isAllowed = (candidate: string) => context.engine.code(inputFor(candidate)) === 'allow';
		const byEngine = () => this.#allowed(ahead, isAllowed);
		const found =
			testFromFacts === undefined
				? yield* byEngine()
				: yield* answerWithReferee(context, {
						fromFacts: () => this.#allowed(ahead, testFromFacts()),
						*isRight(some) {
							const decided = some.length > limit ? ahead.slice(0, ahead.indexOf(some.at(-1) ?? '') + 1) : ahead;
							const allowed = new Set(some);
							for (const one of randomItems(decided, sampleSize)) {
								if (isAllowed(one) !== allowed.has(one)) return false;
								yield;
							}
							return true;
						},
						byEngine,
					});
		const more = found.length > this.#limit;
		const shown = more ? found.slice(0, this.#limit) : found;
		const next = more ? pageToken(this.#request, shown.at(-1) ?? '') : '';
		return more || this.#asked ? { found: shown, next } : { found: shown };
	}

	/** Returns the first allowed candidates: at most one more than the page holds. */
	*#allowed(candidates: readonly string[], isAllowed: (candidate: string) => boolean): Steps<readonly string[]> {
		const found: string[] = [];
		yield* forEachItem(candidates, (candidate) => {
			if (isAllowed(candidate)) found.push(candidate);
			return found.length > this.#limit ? enough : undefined;
		});
		return found;
	}
}

/** Results that a search may find. */
interface Candidates {
	readonly candidates: Iterable<string>;
	readonly inputFor: (candidate: string) => EngineInput;
	/** Returns a test that uses only the facts index. Without it, the engine decides all candidates. */
	readonly testFromFacts?: () => (candidate: string) => boolean;
}

function* after(candidates: Iterable<string>, last: string): Steps<readonly string[]> {
	const ahead: string[] = [];
	const pauses = new Pauses();
	for (const candidate of candidates) {
		if (pauses.step()) yield;
		if (candidate > last) ahead.push(candidate);
	}
	return ahead;
}
