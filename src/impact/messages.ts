/** Messages between the API and the process that compares states. */

import type { PastFact } from '../../compiler/data/delta.js';
import type { Patch, Schema } from '../../compiler/model.js';
import type { AuthorizationResult, Query } from '../wire/decision/check.js';
import type { CoveredDerivation } from '../wire/general/check-test-run.js';
import type { ImpactSide } from '../wire/general/impact.js';
import type { Comparison } from './compare-states.js';
import type { FactsOfCheck } from './facts-of-check.js';
import type { LoggedInput, ReplayedDecisions } from './replay-decisions.js';
import type { TouchedFacts } from './touched-facts.js';

/** Held environment state: a revision with its active policy. */
export interface HeldState {
	/** Lineage and token of the revision. */
	readonly lineage: string;
	readonly token: string;
	readonly revision: number;
	/** Policy digest. */
	readonly digest: string;
	/** Identifies the suspended losses and their policy; `null` if there are none. */
	readonly pending: string | null;
}

/** Schemas for recomputing all closures from relationships. Used if the closures would need too many patches. */
export interface ClosureSource {
	readonly schema: Schema;
	/** Schema from which the active policy was compiled, if it is older than `schema`. */
	readonly in_force: Schema | null;
}

/** A change whose impact is requested. */
export interface ImpactQuestion {
	/** Patches from the held state to the state before the change. */
	readonly advance: { readonly to: HeldState; readonly patches: readonly Patch[] };
	/** Patches from the state before the change to the state after it. */
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
		/** Time limit in milliseconds. When it is reached, the reply contains partial results. */
		readonly milliseconds: number;
	};
	/** Logged decisions, newest first. */
	readonly decisions: readonly LoggedInput[];
}

/** Checks to decide after a change. */
export interface ChecksQuestion extends Omit<ImpactQuestion, 'touched' | 'limits' | 'decisions'> {
	readonly checks: readonly Query[];
}

/** Result of a check, with the derivations that allow the check. */
export interface DecidedSide {
	readonly side: ImpactSide;
	readonly derivations: readonly CoveredDerivation[];
}

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
	/** True to return the facts that the check depends on. */
	readonly withFacts: boolean;
	/** Newest revision whose policy was active at `time`. */
	readonly policyRevision: number;
	/** Difference between the held state and the past state; `null` to use the held state. */
	readonly past: {
		/** Facts changed since the past state, with their past values. */
		readonly facts: readonly PastFact[];
		/** Past schema; `null` if unchanged. */
		readonly schema: Schema | null;
		/** Schema that determines the closures of the past state. */
		readonly closures: Schema;
		/** Past policy module; `null` if unchanged. */
		readonly policy: Uint8Array | null;
	} | null;
}

/** Request to the process. */
export type Question =
	/** Applies a feed bundle: a snapshot, or a step that continues the held state. */
	| { readonly kind: 'hold'; readonly bundle: Uint8Array; readonly held: HeldState }
	| { readonly kind: 'impact'; readonly question: ImpactQuestion }
	| { readonly kind: 'checks'; readonly question: ChecksQuestion }
	| { readonly kind: 'explanation'; readonly question: ExplanationQuestion };

/** Message to the process. The process handles queries in sequence. */
export interface Asked {
	readonly id: number;
	readonly question: Question;
}

/** Replies, keyed by query kind. */
export interface Answers {
	readonly hold: null;
	readonly impact: ImpactAnswer;
	readonly checks: readonly DecidedSide[];
	readonly explanation: { readonly result: AuthorizationResult; readonly facts: FactsOfCheck | null };
}

/** Message from the process. The process ends after a failure. */
export type Answered =
	| { readonly id: number; readonly value: Answers[keyof Answers] }
	/** `too_large` is true if the calculation would exceed the memory limit. */
	| { readonly id: number; readonly failure: string; readonly too_large: boolean };
