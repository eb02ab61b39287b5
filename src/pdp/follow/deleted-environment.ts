/** Results for a deleted environment: every check is denied, and every listing is empty. */

import type { DecidingEngine } from '../engine/engine.js';
import { FactsIndex } from '../facts/facts-index.js';
import type { LoadedRevision } from './prepare-bundle.js';

/** Denial code for a deleted environment. */
export const environmentDeleted = 'environment_deleted' as const;

/** Denies every check and lists nothing. */
const denyingEngine: DecidingEngine = {
	code: () => environmentDeleted,
	evaluate: (entrypoint) => (entrypoint.startsWith('regolith/listing/') ? [] : { code: environmentDeleted }),
};

/** Returns the revision to report after the environment was deleted at `last`. */
export function deletedRevision(last: LoadedRevision | undefined): LoadedRevision {
	const { lineage = '', revision = 0, policyRevision = 0 } = last ?? {};
	const facts = new FactsIndex();
	return { engine: denyingEngine, facts, lineage, token: '', revision, policyRevision, degraded: null };
}
