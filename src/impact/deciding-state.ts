import type { DecidingEngine } from '../pdp/engine/engine.js';
import type { FactsIndex } from '../pdp/facts/facts-index.js';

/** An environment state: engine and facts index. */
export interface DecidingState {
	readonly engine: DecidingEngine;
	readonly facts: FactsIndex;
}

/** An environment before and after a change. */
export interface StatePair {
	readonly before: DecidingState;
	readonly after: DecidingState;
}
