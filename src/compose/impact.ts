/**
 * Finds the access gained and lost through a change, and explains past check results. Connects the store, the publisher
 * and the impact processes.
 */

import type { Schema } from '../../compiler/model.js';
import type { ExplainedCheck, ImpactSource, ImpactTrial, Trial } from '../api/impact-source.js';
import { Failure, notFound, unprocessable } from '../failure.js';
import { testResults } from '../impact/check-test-results.js';
import { maxFacts } from '../impact/facts-of-check.js';
import { type ImpactProcess, type ProcessLimits, tooLong } from '../impact/impact-process.js';
import { ImpactProcesses, type ProcessesOptions } from '../impact/impact-processes.js';
import type { ExplanationQuestion, ImpactAnswer } from '../impact/messages.js';
import type { LoggedInput } from '../impact/replay-decisions.js';
import { writeTest } from '../impact/write-test.js';
import { clientGone } from '../limit/turns.js';
import { valueInTime } from '../limit/value-in-time.js';
import type { Logger } from '../log.js';
import { normalise } from '../pdp/decide/normalise.js';
import type { Assembler, DraftedPolicy } from '../publish/assemble.js';
import type { FeedServer } from '../publish/feed-server.js';
import type { Head, LiveHead } from '../publish/head.js';
import { pastState } from '../publish/past-state.js';
import type { Publisher } from '../publish/publisher.js';
import { type TriedChange, tryChange } from '../publish/try-change.js';
import { readSchema } from '../store/model/model.js';
import type { PolicyStore } from '../store/policy/policy-store.js';
import type { Store } from '../store/store.js';
import type { CheckTest } from '../store/table/check-test.js';
import type { Scope } from '../store/unit/reading-unit.js';
import type { AuthorizationResult } from '../wire/decision/check.js';
import { type CheckTestResults, maxTestsPerRun } from '../wire/general/check-test-run.js';
import { type Impact, maxChangesSince } from '../wire/general/impact.js';

/** Dependencies of the impact finder. */
export interface ImpactParts {
	readonly store: Store;
	readonly policies: PolicyStore;
	readonly publisher: Publisher;
	readonly feed: FeedServer;
	/** Compiles drafted schemas. Separate from the publisher's assembler, which must not wait. */
	readonly assembler: Assembler;
	readonly limits: ProcessLimits;
	readonly log: Logger;
	/** Starts a process, for tests. */
	readonly start?: ProcessesOptions['start'];
}

/** Maximum number of attempts when concurrent writes keep changing the policy. */
const maxAttempts = 5;
/** Share of the remaining time after which the comparison stops with a truncated result. */
const partForComparison = 0.8;
/** Maximum total length of the logged decisions that are decided again, as JSON, in characters. */
const maxLoggedLength = 8 * 1024 * 1024;

/** Finds the impact of changes, in processes that are started on demand. */
export class ImpactFinder implements ImpactSource {
	readonly #processes: ImpactProcesses;

	constructor(private readonly parts: ImpactParts) {
		const { limits, log, start } = parts;
		this.#processes = new ImpactProcesses({ limits, log, ...(start && { start }) });
	}

	/** Ids of the running processes. */
	get pids(): readonly number[] {
		return this.#processes.pids;
	}

	/** Ends the processes. */
	async stop(): Promise<void> {
		await this.#processes.stop();
		await this.parts.assembler.stop();
	}

	/** See `ImpactSource`. */
	find(trial: ImpactTrial): Promise<Impact> {
		const { scope, closed } = trial;
		return this.#processes.run(scope.environment_id, closed, async (process, left) => {
			const prepared = await this.#prepare(trial, process, left);
			const answer = await this.#compare(trial, prepared, process, left);
			return asImpact(answer, prepared.head.revision, prepared.drafted);
		});
	}

	/** See `ImpactSource`. */
	test(trial: Trial<readonly CheckTest[]>): Promise<CheckTestResults> {
		const { scope, closed } = trial;
		return this.#processes.run(scope.environment_id, closed, async (process, left) => {
			const { tried, head, policy } = await this.#prepare(trial, process, left);
			const tests = tried.result.slice(0, maxTestsPerRun);
			const question = {
				...questionAbout(tried, head, policy),
				time: this.parts.store.clock.now().getTime(),
				checks: tests.map(({ check }) => check),
			};
			const decided = await process.ask<'checks'>({ kind: 'checks', question }, left());
			process.holds(question.advance.to);
			const schema = tried.schema ?? (await readSchema(this.parts.store.reading(scope)));
			return testResults({
				tests,
				decided,
				schema,
				base_revision: head.revision,
				truncated: tried.result.length > tests.length,
			});
		});
	}

	/** Tries a change, and compiles the changed schema. */
	async #prepare<T>(trial: Trial<T>, process: ImpactProcess, left: () => number): Promise<Prepared<T>> {
		const { tried, head } = await this.#try(trial, process, left);
		requireClient(trial.closed);
		const drafted = tried.schema === null ? null : await this.#compile(tried.schema, left());
		const policy = drafted === null || drafted.digest === head.digest ? null : drafted.wasm;
		requireClient(trial.closed);
		return { tried, head, policy, drafted };
	}

	/** See `ImpactSource`. */
	async explain(asked: ExplainedCheck): Promise<AuthorizationResult> {
		const { result } = await this.#explain(asked, false);
		return result;
	}

	/** See `ImpactSource`. */
	async writeTest(asked: ExplainedCheck): Promise<string> {
		const { scope, query, time, revision } = asked;
		const { result, facts, policyRevision } = await this.#explain(asked, true);
		const compiled = await this.parts.policies.history.compiledAt(scope.environment_id, revision);
		if (policyRevision !== revision || compiled === null || facts === null) {
			throw new Failure('conflict', `the policy of revision ${revision} is not active`);
		}
		if (facts.truncated) {
			const message = `the check depends on more than ${maxFacts} tenant roles or relationships, which is too much for a test`;
			throw new Failure('conflict', message);
		}
		const input = normalise(query, time.getTime());
		return writeTest({ input, allow: result.allow, facts, schema: compiled.schema, revision });
	}

	async #explain({ scope, query, revision, token, time, closed }: ExplainedCheck, withFacts: boolean) {
		if (token !== null && (await this.parts.store.tokenAt(scope.environment_id, revision)) !== token) {
			const message = `revision ${revision} now refers to a different revision, because history was truncated`;
			throw new Failure('not_kept', message, { revision });
		}
		return this.#processes.run(scope.environment_id, closed, async (process, left) => {
			const { past, policyRevision } = await this.#past({ scope, revision, closed }, process, left);
			requireClient(closed);
			const question = { query, time: time.getTime(), revision, policyRevision, past, withFacts };
			const answer = await process.ask<'explanation'>({ kind: 'explanation', question }, left());
			return { ...answer, policyRevision };
		});
	}

	/** Updates the process to the newest revision. Returns the difference between a past revision and this state. */
	async #past(
		{ scope, revision, closed }: Pick<ExplainedCheck, 'scope' | 'revision' | 'closed'>,
		process: ImpactProcess,
		left: () => number,
	): Promise<Pick<ExplanationQuestion, 'past' | 'policyRevision'>> {
		const { store, policies } = this.parts;
		for (let attempt = 1; attempt <= maxAttempts && left() > 0; attempt += 1) {
			const head = await this.#follow(scope, process, left, closed);
			const { held } = process;
			if (held === null || held.digest !== head.digest) continue;
			if (revision > held.revision) throw notFound('Revision', String(revision));
			if (revision === held.revision) return { past: null, policyRevision: head.policy_revision };
			const wanted = { revision, most: maxChangesSince };
			const past = await pastState(store, policies, scope.environment_id, wanted, held);
			if (past !== null) return { past, policyRevision: revision };
		}
		throw this.#notReached(left);
	}

	/** Tries a change on the newest revision that the process can reach. */
	async #try<T>(
		{ scope, caller, change, closed }: Trial<T>,
		process: ImpactProcess,
		left: () => number,
	): Promise<{ readonly tried: TriedChange<T>; readonly head: LiveHead }> {
		for (let attempt = 1; attempt <= maxAttempts && left() > 0; attempt += 1) {
			const seen = await this.#follow(scope, process, left, closed);
			const { held } = process;
			if (held === null || held.digest !== seen.digest) continue;
			requireClient(closed);
			const tried = await tryChange(this.parts.store, { scope, caller, change }, held, seen);
			if (tried !== 'moved') return { tried, head: tried.base.head };
		}
		throw this.#notReached(left);
	}

	/** Returns the failure of a request that did not reach the newest revision. */
	#notReached(left: () => number): Failure {
		if (left() <= 0) return tooLong(this.parts.limits);
		return new Failure('conflict', 'the environment changes too often: try again');
	}

	/** Updates the process to about the newest revision, through the same feed as decision points. Returns the head. */
	async #follow(
		{ environment_id: environment }: Scope,
		process: ImpactProcess,
		left: () => number,
		closed: AbortSignal,
	): Promise<LiveHead> {
		const { feed, publisher } = this.parts;
		requirePolicy(await publisher.head(environment));
		for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
			const { held } = process;
			const query = { environment, flavour: 'wasm', modes: followed, wait: 0, closed, key: '' } as const;
			const { lineage, revision, token, digest, pending, bytes } = await feed.next({
				...query,
				// The state is verified, because this server's own process received it from this feed.
				held: held && { ...held, verified: true },
				refreshed: null,
				refresh: null,
				authorize: async () => null,
			});
			if (bytes === null) break;
			const question = { kind: 'hold', bundle: bytes, held: { lineage, revision, token, digest, pending } } as const;
			// Finish the update even if the client has disconnected, because the next request needs it.
			await process.ask<'hold'>(question, left());
			process.holds(question.held);
		}
		return requirePolicy(await publisher.head(environment));
	}

	async #compile(schema: Schema, milliseconds: number): Promise<DraftedPolicy> {
		const { assembler } = this.parts;
		const drafted = await valueInTime(assembler.draft(schema), Math.max(milliseconds, 0), null);
		if (drafted === null) {
			await assembler.stop();
			throw new Failure('unavailable', 'compiling the schema with the draft takes too long (IMPACT_TIMEOUT)');
		}
		if (drafted.digest !== null) return drafted;
		const { message, details } = drafted.failure;
		const msg = [message, ...details].join('\n');
		throw unprocessable([{ loc: ['body', 'draft'], msg, type: 'not_compilable' }]);
	}

	async #compare(
		trial: ImpactTrial,
		{ tried, head, policy, drafted }: Prepared<unknown>,
		process: ImpactProcess,
		left: () => number,
	): Promise<ImpactAnswer> {
		const { store } = this.parts;
		const { touched } = tried;
		const decisions = await this.#logged(trial);
		// The tables may contain names that the policy lacks, so comparing tables cannot show all differences.
		const everything = policy !== null && (head.degraded !== null || (drafted?.left_out.length ?? 0) > 0);
		const { checks, rows } = trial.limits;
		const question = {
			...questionAbout(tried, head, policy),
			touched: everything ? null : touched,
			time: store.clock.now().getTime(),
			limits: { checks, rows, milliseconds: left() * partForComparison },
			decisions,
		};
		const answer = await process.ask<'impact'>({ kind: 'impact', question }, left());
		process.holds(question.advance.to);
		return answer;
	}

	/** Returns the newest logged decisions, up to the requested number and the size limit. */
	async #logged({ scope, limits }: ImpactTrial): Promise<readonly LoggedInput[]> {
		if (limits.decisions === 0) return [];
		const { data } = await this.parts.store
			.reading(scope)
			.auditLogs()
			.page({}, { page: 1, per_page: limits.decisions });
		const logged: LoggedInput[] = [];
		let length = 0;
		for (const { id, logged_at, code, raw } of data) {
			const input = raw['input'] ?? null;
			length += JSON.stringify(input).length;
			if (length > maxLoggedLength) break;
			logged.push({ id, timestamp: logged_at.toISOString(), code, input });
		}
		return logged;
	}
}

const followed: ReadonlySet<string> = new Set(['delta', 'policy']);

/** A tried change, the head on which the change was tried, and the resulting policy if the policy differs. */
interface Prepared<T> {
	readonly tried: TriedChange<T>;
	readonly head: LiveHead;
	readonly policy: Uint8Array | null;
	readonly drafted: DraftedPolicy | null;
}

/** Returns the query fields with which a process reaches the state after a change. */
function questionAbout({ patches, closures, base }: TriedChange, head: LiveHead, policy: Uint8Array | null) {
	const { lineage, revision, token, digest, pending } = head;
	const to = { lineage, revision, token, digest, pending };
	return { advance: { to, patches: base.patches }, patches, closures, policy };
}

/** Returns the head if it has a policy. An environment whose schema has never compiled has no policy. */
function requirePolicy({ digest, ...head }: Head): LiveHead {
	if (digest !== null) return { ...head, digest };
	const why = head.failure?.message ?? 'nothing has been compiled yet';
	throw new Failure('conflict', `the environment has no policy yet: ${why}`, head.failure);
}

/** Throws if the client has disconnected. */
function requireClient(closed: AbortSignal): void {
	if (closed.aborted) throw clientGone();
}

function asImpact(
	{ comparison, decisions }: ImpactAnswer,
	base_revision: number,
	drafted: DraftedPolicy | null,
): Impact {
	const { gains, loses, gained, lost, asked, by_cause, truncated } = comparison;
	return {
		base_revision,
		gains: [...gains],
		loses: [...loses],
		counts: { gained, lost, asked, by_cause: [...by_cause] },
		truncated,
		decisions: { ...decisions, rows: [...decisions.rows] },
		left_out: (drafted?.left_out ?? []).map(({ object, message }) => ({ object, message })),
	};
}
