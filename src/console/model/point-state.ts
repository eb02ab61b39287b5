/** What a decision point said of itself, as far as it did. */
export interface PointState {
	/** `unknown` where it did not say. */
	readonly state: string;
	/** What is wrong, for people. */
	readonly detail: string | null;
	readonly revision: number | null;
	readonly policyRevision: number | null;
	readonly version: string | null;
	readonly workers: number;
	/** `edge`, or `cloud` where it evaluates no condition sets; `null` where it did not say. */
	readonly mode: string | null;
	/** Over the time up to its report; `null` where it did not say. */
	readonly checksPerSecond: number | null;
	/** Decisions that it could not log. */
	readonly lost: number;
	/** Decisions that its sampling left out of the log. */
	readonly sampledOut: number;
}

/** Reads the report of a decision point. It may be of another version, or of another program: nothing is taken for granted. */
export function readPointState(report: unknown): PointState {
	const { state, detail, revision, policy_revision, degraded, pdp } = record(report);
	const { version, workers, mode, checks_per_second, decision_log, clock_ahead_seconds } = record(pdp);
	const { receivers, sampled_out } = record(decision_log);
	const { reason } = record(degraded);
	return {
		state: text(state) ?? 'unknown',
		detail: text(detail) ?? clockText(number(clock_ahead_seconds)) ?? degradationText(text(reason)),
		revision: number(revision),
		policyRevision: number(policy_revision),
		version: text(version),
		workers: number(workers) ?? 1,
		mode: text(mode),
		checksPerSecond: number(checks_per_second),
		lost: Object.values(record(receivers)).reduce<number>((sum, one) => sum + (number(record(one)['lost']) ?? 0), 0),
		sampledOut: number(sampled_out) ?? 0,
	};
}

/** How far the clock of the decision point is off, in words. */
function clockText(secondsAhead: number | null): string | null {
	if (secondsAhead === null) return null;
	return `Its clock is ${Math.round(Math.abs(secondsAhead) / 60)} min ${secondsAhead > 0 ? 'ahead' : 'behind'}.`;
}

/** Why the policy in force is not the newest, in words. */
function degradationText(reason: string | null): string | null {
	if (reason === null) return null;
	const texts: Readonly<Record<string, string>> = {
		compiling: 'The newest policy is being compiled.',
		failed: 'The newest schema could not be compiled.',
		left_out: 'Objects were left out of the policy.',
	};
	return texts[reason] ?? reason;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function text(value: unknown): string | null {
	return typeof value === 'string' ? value : null;
}

function number(value: unknown): number | null {
	return typeof value === 'number' ? value : null;
}
