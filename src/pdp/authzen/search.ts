/**
 * AuthZEN searches. The index proposes candidates, and each result is decided like an evaluation with the same inputs.
 * Results are sorted by code unit. A page begins after the last result on the previous page. Concurrent writes
 * therefore neither repeat nor skip results that they do not affect.
 */

import type { Steps } from '../../../compiler/steps.js';
import {
	type ActionSearch,
	maxResults,
	type ResourceSearch,
	type SearchPage,
	type SubjectSearch,
} from '../../wire/decision/authzen.js';
import type { DecisionContext } from '../decide/decide.js';
import type { Mode } from '../decide/normalise.js';
import { enough, forEachItem, sortedBy } from '../engine/chunks.js';
import type { EngineInput } from '../engine/engine.js';
import { instanceName, instanceType, parseInstanceName } from '../facts/instance-name.js';
import { openedTenants } from '../facts/opened-tenants.js';
import { instancesFor } from '../facts/role-walk.js';
import { usersWhoMay } from '../listing/authorized-users.js';
import { pageToken, readPageToken } from '../listing/page-token.js';
import { type EvaluationReading, evaluationInput, tenantAsked } from './input.js';

/** Settings for searches. */
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

/** Number of candidates visited between two pauses. */
const stride = 1_000;

/** Finds user keys. Throws `Failure` (`invalid`) if the page token belongs to a different search. */
export function* searchSubjects(
	context: DecisionContext,
	search: SubjectSearch,
	settings: SearchSettings,
): Steps<Found> {
	const { page, ...request } = search;
	const pages = new Pages(page, ['subject', request]);
	if (!settings.subjectTypes.has(search.subject.type)) return pages.none;
	const subject = { ...search.subject, id: '' };
	const question = evaluationInput({ ...search, subject }, evaluationReading(context, settings));
	const users = yield* usersWhoMay(context, question);
	return yield* pages.take(context, users, (key) => ({ ...question, user: { ...question.user, key } }));
}

/**
 * Finds instance keys. Each is checked in the instance's own tenant unless the request names a tenant. Throws like
 * `searchSubjects`.
 */
export function* searchResources(
	context: DecisionContext,
	search: ResourceSearch,
	settings: SearchSettings,
): Steps<Found> {
	const { page, ...request } = search;
	const pages = new Pages(page, ['resource', request]);
	if (!settings.subjectTypes.has(search.subject.type)) return pages.none;
	const { type } = search.resource;
	const resource = { ...search.resource, id: '' };
	const question = evaluationInput({ ...search, resource }, evaluationReading(context, settings));
	const tenantOf = (key: string) => context.facts.tenantKey(instanceName({ type, key })) ?? question.resource.tenant;
	const keys = yield* instancesThatMayBe(context, question, tenantAsked(search));
	return yield* pages.take(context, keys, (key) => ({
		...question,
		resource: { ...question.resource, key, tenant: tenantOf(key) },
	}));
}

/** Finds action keys. Throws like `searchSubjects`. */
export function* searchActions(context: DecisionContext, search: ActionSearch, settings: SearchSettings): Steps<Found> {
	const { page, ...request } = search;
	const pages = new Pages(page, ['action', request]);
	if (!settings.subjectTypes.has(search.subject.type)) return pages.none;
	const question = evaluationInput({ ...search, action: { name: '' } }, evaluationReading(context, settings));
	const actions = context.facts.schema.actions(search.resource.type);
	return yield* pages.take(context, actions, (action) => ({ ...question, action }));
}

function evaluationReading({ facts, time }: DecisionContext, { mode }: SearchSettings): EvaluationReading {
	return { facts, time, mode };
}

/**
 * Returns the keys of all instances with the type, in the tenant or anywhere, on which a check may allow the action.
 */
function* instancesThatMayBe(
	{ facts, time }: DecisionContext,
	{ user, action, resource: { type } }: EngineInput,
	tenant: string | undefined,
): Steps<Iterable<string>> {
	const opened = (yield* openedTenants(facts, user.key, time))(type, action);
	const byConditions = facts.schema.setsMayGrant(type, action);
	const held = yield* instancesFor(facts, user.key, time);
	const keys: string[] = [];
	let visited = 0;
	// Outside the walk's result, only tenant roles and conditions can allow an action on an instance.
	for (const instance of byConditions || opened.size > 0 ? facts.instances : held) {
		visited += 1;
		if (visited % stride === 0) yield;
		const own = facts.tenantKey(instance);
		if (own === undefined || instanceType(instance) !== type || (tenant ?? own) !== own) continue;
		if (byConditions || opened.has(own) || held.has(instance)) keys.push(parseInstanceName(instance).key);
	}
	return keys;
}

/** Cuts the requested page out of all results. */
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
		this.#last = page?.token ? readPageToken(page.token, request) : undefined;
		this.none = this.#asked ? { found: [], next: '' } : { found: [] };
	}

	/** Decides candidates in order until the page is full. */
	*take(
		{ engine }: DecisionContext,
		candidates: Iterable<string>,
		inputFor: (candidate: string) => EngineInput,
	): Steps<Found> {
		const last = this.#last;
		const found: string[] = [];
		const ahead = last === undefined ? candidates : yield* after(candidates, last);
		yield* forEachItem(yield* sortedBy(ahead, (candidate) => candidate), (candidate) => {
			if (engine.code(inputFor(candidate)) === 'allow') found.push(candidate);
			return found.length > this.#limit ? enough : undefined;
		});
		const more = found.length > this.#limit;
		const shown = more ? found.slice(0, this.#limit) : found;
		const next = more ? pageToken(this.#request, shown.at(-1) ?? '') : '';
		return more || this.#asked ? { found: shown, next } : { found: shown };
	}
}

function* after(candidates: Iterable<string>, last: string): Steps<readonly string[]> {
	const ahead: string[] = [];
	let visited = 0;
	for (const candidate of candidates) {
		visited += 1;
		if (visited % stride === 0) yield;
		if (candidate > last) ahead.push(candidate);
	}
	return ahead;
}
