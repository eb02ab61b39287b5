/** What is answered when the environment was deleted: every check is denied, and every listing is empty. */

import type { DecidingEngine } from '../engine/engine.js';
import { FactsIndex } from '../facts/facts-index.js';

/** The code of a denial because the environment was deleted. */
export const environmentDeleted = 'environment_deleted' as const;

/** Denies everything, and lists nothing. */
export const denyingEngine: DecidingEngine = {
	code: () => environmentDeleted,
	evaluate: (entrypoint) => (entrypoint.startsWith('regolith/listing/') ? [] : { code: environmentDeleted }),
};

/** An index of nothing. */
export const emptyIndex = new FactsIndex();
