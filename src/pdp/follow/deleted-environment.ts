/** Answers for a deleted environment: every check is denied, and every listing is empty. */

import type { DecidingEngine } from '../engine/engine.js';
import { FactsIndex } from '../facts/facts-index.js';

/** Denial code for a deleted environment. */
export const environmentDeleted = 'environment_deleted' as const;

/** Denies every check and lists nothing. */
export const denyingEngine: DecidingEngine = {
	code: () => environmentDeleted,
	evaluate: (entrypoint) => (entrypoint.startsWith('regolith/listing/') ? [] : { code: environmentDeleted }),
};

export const emptyIndex = new FactsIndex();
