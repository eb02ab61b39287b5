import type { DecidingEngine } from '../pdp/engine/engine.js';
import type { FactsIndex } from '../pdp/facts/facts-index.js';

/** An environment in one state: what decides, and an index of what it decides from. */
export interface DecidingState {
	readonly engine: DecidingEngine;
	readonly facts: FactsIndex;
}

/** One environment before and after a change. */
export interface StatePair {
	readonly before: DecidingState;
	readonly after: DecidingState;
}
