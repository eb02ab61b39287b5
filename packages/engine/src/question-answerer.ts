import { z } from 'zod';
import type { Steps } from '../../../compiler/steps.js';
import { Failure } from '../../../src/failure.js';
import { checkInput, filterInput, permissionsInput } from '../../../src/pdp/decide/contextual-facts.js';
import { type DecisionContext, decide } from '../../../src/pdp/decide/decide.js';
import { normaliseUsers } from '../../../src/pdp/decide/normalise.js';
import { createRevisionReader, type ReadRevision } from '../../../src/pdp/decide/revision-reader.js';
import { forEachItem } from '../../../src/pdp/engine/chunks.js';
import { evaluationFailed } from '../../../src/pdp/engine/engine.js';
import { filterRows } from '../../../src/pdp/filter/filter.js';
import { deadline } from '../../../src/pdp/follow/deadline.js';
import { environmentDeleted } from '../../../src/pdp/follow/deleted-environment.js';
import type { ReaderKind } from '../../../src/pdp/follow/leases.js';
import { LineageEnded } from '../../../src/pdp/follow/progress.js';
import { possibleDelay } from '../../../src/pdp/follow/timer.js';
import { authorizedUsers } from '../../../src/pdp/listing/authorized-users.js';
import { permissions } from '../../../src/pdp/listing/permissions.js';
import { userTenants } from '../../../src/pdp/listing/user-tenants.js';
import * as wire from '../../../src/wire/decision/check.js';
import * as wireFilter from '../../../src/wire/decision/filter.js';
import { parseRevision } from '../../../src/wire/revision-token.js';
import {
	type AuthorizedUsers,
	type CheckQuery,
	type CheckResult,
	type EngineState,
	type FilterQuery,
	type FilterResult,
	type ListedTenant,
	type LoadedEngine,
	type PermissionsQuery,
	RegolithError,
	type UserPermissions,
	type UsersQuery,
} from './api.js';
import { type RevisionHolder, silent } from './held-revision.js';

/** Maximum CPU time per query in milliseconds, the same as in a decision point. */
const budget = 10_000;
/** Default timeout for `reached`, in milliseconds. */
const defaultWait = 10_000;
/** Maximum length of the error detail for an invalid query, in characters. */
const maxDetail = 500;

/** Processes queries at the holder's revision. */
export class QuestionAnswerer implements LoadedEngine {
	/** Cleared by `close`, so memory is freed even if the caller keeps this object. */
	#holder: RevisionHolder | undefined;
	readonly #read: ReadRevision;
	readonly #closing = new AbortController();
	#closed: Promise<void> | undefined;

	constructor(holder: RevisionHolder) {
		this.#holder = holder;
		const { leases, scheduler } = holder;
		this.#read = createRevisionReader({ now: () => this.#now(), leases, scheduler, budget });
	}

	check(query: CheckQuery): CheckResult {
		try {
			if (this.#holder === undefined) return denial('closed');
			if (this.#holder.state.kind === 'deleted') return denial(environmentDeleted);
			const context = contextFrom(this.#holder);
			return context === undefined ? denial('not_loaded') : decided(query, context);
		} catch {
			// Getters and proxies may throw anything.
			return denial(evaluationFailed);
		}
	}

	async checkMany(queries: readonly CheckQuery[]): Promise<readonly CheckResult[]> {
		if (!Array.isArray(queries)) throw new RegolithError('invalid_query', 'the checks must be an array');
		if (queries.length > wire.maxBulkChecks) {
			throw new RegolithError('invalid_query', `there are more than ${wire.maxBulkChecks} checks`);
		}
		// Copy the list, because the caller may change it while the checks run.
		const list = Array.from({ length: queries.length }, (_, index): unknown => queries[index]);
		return this.#answered('batch', (context) => decidedAll(list, context));
	}

	async userPermissions(query: PermissionsQuery): Promise<UserPermissions> {
		const asked = parsed(wire.PermissionsQuery, query);
		return fromJson(
			await this.#answered('listing', (context) => permissions(context, permissionsInput(context, asked))),
		);
	}

	async userTenants(query: Pick<PermissionsQuery, 'user' | 'context'>): Promise<readonly ListedTenant[]> {
		const asked = parsed(wire.TenantsQuery, query);
		return fromJson(
			await this.#answered('listing', (context) => userTenants(context, permissionsInput(context, asked))),
		);
	}

	async authorizedUsers(query: UsersQuery): Promise<AuthorizedUsers> {
		const input = normaliseUsers(parsed(wire.UsersQuery, query));
		return fromJson(await this.#answered('listing', (context) => authorizedUsers(context, input)));
	}

	async filter(query: FilterQuery): Promise<FilterResult> {
		const read = parsed(wireFilter.FilterQuery, query);
		const options = { maxKeys: read.max_keys ?? wireFilter.usualKeys, explain: false, matches: refusePattern };
		return this.#answered('listing', (context) => filterRows(context, filterInput(context, read), options));
	}

	get state(): EngineState {
		const { kind, detail } = this.#holder?.state ?? { kind: 'closed', detail: 'the engine was closed' };
		return { kind, detail };
	}

	get revision(): number | undefined {
		return this.#holder?.current()?.revision;
	}

	get policyRevision(): number | undefined {
		return this.#holder?.current()?.policyRevision;
	}

	get lineage(): string | undefined {
		return this.#holder?.current()?.lineage || undefined;
	}

	async reached(
		revision: number | string,
		{ timeout = defaultWait }: { readonly timeout?: number } = {},
	): Promise<void> {
		const holder = this.#holding();
		const wanted = parseRevision(String(revision));
		if (wanted === null)
			throw new RegolithError('invalid_query', `\`${revision}\` is neither a revision number nor a revision token`);
		try {
			await deadline(this.#closing.signal, possibleDelay(timeout), (signal) => holder.policyReached(wanted, signal));
		} catch (error) {
			this.#holding();
			if (error instanceof RegolithError) throw error;
			if (error instanceof LineageEnded) throw new RegolithError('unavailable', error.message, error);
			throw new RegolithError('unavailable', `revision ${revision} did not arrive within ${timeout} ms`, error);
		}
	}

	close(): Promise<void> {
		this.#closed ??= this.#letGo();
		return this.#closed;
	}

	async #letGo(): Promise<void> {
		const holder = this.#holder;
		this.#holder = undefined;
		this.#closing.abort();
		await holder?.stop();
	}

	#now(): DecisionContext {
		const holder = this.#holding();
		const context = contextFrom(holder);
		if (context !== undefined) return context;
		throw new RegolithError('unavailable', `nothing is loaded: ${holder.state.detail}`);
	}

	async #answered<T>(kind: ReaderKind, work: (context: DecisionContext) => Steps<T>): Promise<T> {
		this.#holding();
		try {
			return (await this.#read({ kind, work, closed: this.#closing.signal })).result;
		} catch (error) {
			this.#holding();
			if (error instanceof RegolithError) throw error;
			const message = error instanceof Failure ? error.message : 'the query could not be decided';
			const isInvalid = error instanceof Failure && ['contextual_facts_off', 'unprocessable'].includes(error.code);
			throw new RegolithError(isInvalid ? 'invalid_query' : 'unavailable', message, error);
		}
	}

	/** Returns the holder. Throws `RegolithError` if the engine was closed. */
	#holding(): RevisionHolder {
		if (this.#holder !== undefined) return this.#holder;
		throw new RegolithError('closed', 'the engine was closed');
	}
}

/** Returns the current decision context; `undefined` if nothing is loaded. */
function contextFrom(holder: RevisionHolder): DecisionContext | undefined {
	const held = holder.current();
	if (held === undefined) return undefined;
	const { engine, facts, revision = 0, policyRevision = 0 } = held;
	return { engine, facts, revision, policyRevision, time: Date.now(), log: silent };
}

/** Returns a denial for a check that was not decided. */
function denial(code: string, detail?: string): CheckResult {
	return { allow: false, result: false, debug: detail === undefined ? { code } : { code, detail } };
}

function decided(query: unknown, context: DecisionContext): CheckResult {
	const { success, data, error } = wire.Query.safeParse(query);
	if (!success) return denial('invalid_query', z.prettifyError(error).slice(0, maxDetail));
	const explain = (data.use_debugger ?? false) !== false;
	try {
		return decide(context, checkInput(context, data), explain);
	} catch (error) {
		if (!(error instanceof Failure)) throw error;
		const code = error.code === 'unavailable' ? evaluationFailed : 'invalid_query';
		return denial(code, error.message.slice(0, maxDetail));
	}
}

function* decidedAll(queries: readonly unknown[], context: DecisionContext): Steps<readonly CheckResult[]> {
	const results: CheckResult[] = [];
	yield* forEachItem(queries, (query) => results.push(decidedSafely(query, context)));
	return results;
}

function decidedSafely(query: unknown, context: DecisionContext): CheckResult {
	try {
		return decided(query, context);
	} catch {
		return denial(evaluationFailed);
	}
}

function parsed<S extends z.ZodType>(schema: S, query: unknown): z.output<S> {
	try {
		const { success, data, error } = schema.safeParse(query);
		if (success) return data;
		throw new RegolithError('invalid_query', z.prettifyError(error).slice(0, maxDetail));
	} catch (error) {
		throw error instanceof RegolithError
			? error
			: new RegolithError('invalid_query', 'the query is not valid JSON', error);
	}
}

/** Rejects a filter with a regular expression, because this library has no RE2. */
function refusePattern(): never {
	throw new RegolithError('unavailable', 'the filter depends on a regular expression: use a decision point');
}

function fromJson<T>(chunks: readonly string[]): T {
	return JSON.parse(chunks.join('')) as T;
}
