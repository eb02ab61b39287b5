/** Messages between the API and the process that compares states. */

import type { PastFact } from '../../compiler/data/delta.js';
import type { Patch, Schema } from '../../compiler/model.js';
import type { AuthorizationResult, Query } from '../wire/decision/check.js';
import type { Comparison } from './compare-states.js';
import type { LoggedInput, ReplayedDecisions } from './replay-decisions.js';
import type { TouchedFacts } from './touched-facts.js';

/** Held state of an environment: a revision with its active policy. */
export interface HeldState {
	/** Lineage and token of the revision. */
	readonly lineage: string;
	readonly token: string;
	readonly revision: number;
	/** Policy digest. */
	readonly digest: string;
	/** Identifies the suspended losses and the policy they are suspended under; `null` if there are none. */
	readonly pending: string | null;
}

/** Source for recomputing all closures from relationships, because patches would be too many. */
export interface ClosureSource {
	readonly schema: Schema;
	/** Source schema of the active policy, if older. */
	readonly in_force: Schema | null;
}

/** A change to find the impact of. */
export interface ImpactQuestion {
	/** Patches from the held state to the state before the change. */
	readonly advance: { readonly to: HeldState; readonly patches: readonly Patch[] };
	/** Patches from there to the state after the change. */
	readonly patches: readonly Patch[];
	/** `null` if the patches include the closures, or if no closures changed. */
	readonly closures: ClosureSource | null;
	/** Facts touched by the change; `null` if every check must run. */
	readonly touched: TouchedFacts | null;
	/** Policy module after the change; `null` if unchanged. */
	readonly policy: Uint8Array | null;
	/** Decision time in milliseconds since 1970. */
	readonly time: number;
	readonly limits: {
		readonly checks: number;
		readonly rows: number;
		/** Time limit in milliseconds. Returns partial results afterwards. */
		readonly milliseconds: number;
	};
	/** Logged decisions, newest first. */
	readonly decisions: readonly LoggedInput[];
}

/** Impact of a change. */
export interface ImpactAnswer {
	readonly comparison: Comparison;
	readonly decisions: ReplayedDecisions;
}

/** A check to explain, and the state to explain it in. */
export interface ExplanationQuestion {
	readonly query: Query;
	/** Decision time in milliseconds since 1970. */
	readonly time: number;
	readonly revision: number;
	/** Newest revision whose policy was active at that time. */
	readonly policyRevision: number;
	/** Difference between the held state and the past state; `null` to use the held state. */
	readonly past: {
		/** Facts changed since, with their past values. */
		readonly facts: readonly PastFact[];
		/** Schema at that time, if different. */
		readonly schema: Schema | null;
		/** Schema that determines closures. */
		readonly closures: Schema;
		/** Policy module at that time, if different. */
		readonly policy: Uint8Array | null;
	} | null;
}

/** Question to the process. */
export type Question =
	/** Applies a feed bundle: a snapshot, or a step that continues the held state. */
	| { readonly kind: 'hold'; readonly bundle: Uint8Array; readonly held: HeldState }
	| { readonly kind: 'impact'; readonly question: ImpactQuestion }
	| { readonly kind: 'explanation'; readonly question: ExplanationQuestion };

/** Message to the process. It answers questions in sequence. */
export interface Asked {
	readonly id: number;
	readonly question: Question;
}

/** Answers by question kind. */
export interface Answers {
	readonly hold: null;
	readonly impact: ImpactAnswer;
	readonly explanation: AuthorizationResult;
}

/** Message from the process. It ends after a failure. */
export type Answered =
	| { readonly id: number; readonly value: Answers[keyof Answers] }
	/** `too_large` means the work would exceed the memory limit. */
	| { readonly id: number; readonly failure: string; readonly too_large: boolean };
