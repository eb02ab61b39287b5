/** Environment head: the newest revision, the active policy, and how far the policy covers the revision's schema. */

import { layout } from '../../compiler/index.js';
import type { Degradation } from '../bundle/bundle.js';
import { isFailed, policyState, type SchemaChangeAfter } from '../store/policy/policy-state.js';
import type { PolicyFailure, PolicyInForce, Publications } from '../store/policy/publications.js';
import type { EnvironmentCounters } from '../store/unit/counters.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';

/** Newest revision and active policy in an environment. */
export interface Head {
	/** The revision's lineage id. */
	readonly lineage: string;
	readonly revision: number;
	/** Random revision token. */
	readonly token: string;
	/** Newest revision covered by the active policy: `revision`, unless its schema is newer than the policy. */
	readonly policy_revision: number;
	/** Digest of the active policy; `null` until the first policy compiles. */
	readonly digest: string | null;
	/** Reason why the newest schema is not active; `null` if it is active or is being compiled. */
	readonly failure: PolicyFailure | null;
	/** `null` if the active policy covers the complete newest schema. */
	readonly degraded: Degradation | null;
	/**
	 * Identifies the schema whose losses are suspended in the data, and the policy that is active during the suspension;
	 * `null` if nothing is suspended. Two states have equal data only if revision, policy and this value are equal.
	 */
	readonly pending: string | null;
}

/** Head with a policy. */
export type LiveHead = Head & { readonly digest: string };

/**
 * Returns the active policy, or `null` if its data layout is not the current layout. Policies from earlier versions may
 * use a different layout.
 */
export function policyInForce({ live }: Publications): PolicyInForce | null {
	return live?.layout === layout ? live : null;
}

/**
 * Computes the head, or returns `null` if the newest schema must be compiled first. With `late`, the head may use the
 * previous policy. Losses from the newer schema are then suspended.
 */
export async function headAt(
	counters: EnvironmentCounters,
	publications: Publications,
	schemaChangeAfter: SchemaChangeAfter,
	late: boolean,
): Promise<Head | null> {
	const { lineage, revision, token, schema_revision } = counters;
	const named = { lineage, revision, token };
	const live = policyInForce(publications);
	const isTried = isFailed(counters, publications);
	const failure = isTried ? (publications.failed?.failure ?? null) : null;
	if (live === null) {
		return isTried
			? { ...named, policy_revision: revision, digest: null, failure, degraded: null, pending: null }
			: null;
	}
	if (live.schema_revision < schema_revision && !(isTried || late)) return null;
	const { policy_revision, degraded } = await policyState(counters, live, publications, schemaChangeAfter);
	return {
		...named,
		policy_revision,
		digest: live.digest,
		failure: live.schema_revision < schema_revision ? failure : null,
		degraded,
		pending: degraded && `${live.schema_revision}.${schema_revision}${degraded.reason.charAt(0)}`,
	};
}

/**
 * Returns the head as seen by a unit. Returns `null` if its policy or lineage differs from `seen`, or if the newest
 * schema must be compiled first.
 */
export async function headIn(unit: ReadingUnit, counters: EnvironmentCounters, seen: Head): Promise<LiveHead | null> {
	if (counters.lineage !== seen.lineage) return null;
	const late = seen.policy_revision < seen.revision;
	const changeAfter = (revision: number) => unit.schemaChangeAfter(revision);
	const head = await headAt(counters, await unit.publications(), changeAfter, late);
	return head !== null && head.digest !== null && head.digest === seen.digest ? { ...head, digest: head.digest } : null;
}
