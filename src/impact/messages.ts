/** What the process that compares states is asked, and what it answers. */

import type { PastFact } from '../../compiler/data/delta.js';
import type { Patch, Schema } from '../../compiler/model.js';
import type { AuthorizationResult, Query } from '../wire/decision/check.js';
import type { Comparison } from './compare-states.js';
import type { LoggedInput, ReplayedDecisions } from './replay-decisions.js';
import type { TouchedFacts } from './touched-facts.js';

/** What is held of an environment: a revision with the policy in force there. */
export interface HeldState {
	/** The lineage and the token of the revision. */
	readonly lineage: string;
	readonly token: string;
	readonly revision: number;
	/** The digest of the policy. */
	readonly digest: string;
	/** Which losses are suspended under which policy; `null` when none are. */
	readonly pending: string | null;
}

/** What is computed anew from all relationships, because patches for it would be too many. */
export interface ClosureSource {
	readonly schema: Schema;
	/** The schema that the policy was compiled from, where that is an older one. */
	readonly in_force: Schema | null;
}

/** A change whose impact is asked for. */
export interface ImpactQuestion {
	/** Patches that lead from what is held to the state that is changed. */
	readonly advance: { readonly to: HeldState; readonly patches: readonly Patch[] };
	/** Patches that lead from there to the state after the change. */
	readonly patches: readonly Patch[];
	/** `null` where the patches have the closures, or none changed. */
	readonly closures: ClosureSource | null;
	/** What the change touched; `null` when everything has to be asked. */
	readonly touched: TouchedFacts | null;
	/** The module of the policy after the change; `null` for the same one. */
	readonly policy: Uint8Array | null;
	/** When everything is decided, in milliseconds since 1970. */
	readonly time: number;
	readonly limits: {
		readonly checks: number;
		readonly rows: number;
		/** After how many milliseconds it is to end with what it has. */
		readonly milliseconds: number;
	};
	/** Decisions of the log, the newest first. */
	readonly decisions: readonly LoggedInput[];
}

/** What a change leads to. */
export interface ImpactAnswer {
	readonly comparison: Comparison;
	readonly decisions: ReplayedDecisions;
}

/** A check to explain, and the state to do it in. */
export interface ExplanationQuestion {
	readonly query: Query;
	/** When it is decided, in milliseconds since 1970. */
	readonly time: number;
	readonly revision: number;
	/** The newest revision whose policy was in force then. */
	readonly policyRevision: number;
	/** How the past state differs from what is held; `null` when it is what is held. */
	readonly past: {
		/** What has changed since, as it was. */
		readonly facts: readonly PastFact[];
		/** The schema of that time, where it is another one. */
		readonly schema: Schema | null;
		/** The schema that closures follow from. */
		readonly closures: Schema;
		/** The module of the policy of that time, where it is another one. */
		readonly policy: Uint8Array | null;
	} | null;
}

/** What the process is asked. */
export type Question =
	/** Takes a bundle of the feed: a snapshot, or a step that continues what is held. */
	| { readonly kind: 'hold'; readonly bundle: Uint8Array; readonly held: HeldState }
	| { readonly kind: 'impact'; readonly question: ImpactQuestion }
	| { readonly kind: 'explanation'; readonly question: ExplanationQuestion };

/** What is sent to the process. It answers one question after the other. */
export interface Asked {
	readonly id: number;
	readonly question: Question;
}

/** The answers by the kinds of questions. */
export interface Answers {
	readonly hold: null;
	readonly impact: ImpactAnswer;
	readonly explanation: AuthorizationResult;
}

/** What the process sends. After a failure it ends. */
export type Answered =
	| { readonly id: number; readonly value: Answers[keyof Answers] }
	/** `too_large` says that it would take more memory than it may. */
	| { readonly id: number; readonly failure: string; readonly too_large: boolean };
