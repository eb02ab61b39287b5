/** Decision point state, as reported. */
export interface PointState {
	/** State, or `unknown` if it was not reported. */
	readonly state: string;
	/** Human-readable problem. */
	readonly detail: string | null;
	readonly revision: number | null;
	readonly policyRevision: number | null;
	readonly version: string | null;
	readonly workers: number;
	/** `edge`, or `cloud` if the decision point evaluates no condition sets; `null` if it was not reported. */
	readonly mode: string | null;
	/** Average checks per second before the report; `null` if not reported. */
	readonly checksPerSecond: number | null;
	/** Number of decisions that could not be logged. */
	readonly lost: number;
	/** Number of decisions omitted from the log by sampling. */
	readonly sampledOut: number;
}

/**
 * Reads a decision point's report. Every field is optional, because the report may come from a different version or
 * program.
 */
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

/** Formats a decision point's clock offset. */
function clockText(secondsAhead: number | null): string | null {
	if (secondsAhead === null) return null;
	return `Its clock is ${Math.round(Math.abs(secondsAhead) / 60)} min ${secondsAhead > 0 ? 'ahead' : 'behind'}.`;
}

/** Formats the reason why the active policy is outdated. */
function degradationText(reason: string | null): string | null {
	if (reason === null) return null;
	const texts: Readonly<Record<string, string>> = {
		compiling: 'Compiling the newest policy.',
		failed: 'The newest schema does not compile.',
		left_out: 'The policy omits some objects.',
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
