/** The head of an environment: its newest revision, the policy in force, and how the two compare. */

import { layout } from '../../compiler/index.js';
import type { Degradation } from '../bundle/bundle.js';
import { isFailed, policyState, type SchemaChangeAfter } from '../store/policy/policy-state.js';
import type { PolicyFailure, PolicyInForce, Publications } from '../store/policy/publications.js';
import type { EnvironmentCounters } from '../store/unit/counters.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';

/** An environment's newest revision and the policy in force there. */
export interface Head {
	/** The id of the lineage of the revision. */
	readonly lineage: string;
	readonly revision: number;
	/** The random token of the revision. */
	readonly token: string;
	/** The newest revision whose policy is in force: `revision`, unless its schema is newer than the policy. */
	readonly policy_revision: number;
	/** Of the policy in force; `null` while no policy was ever compiled. */
	readonly digest: string | null;
	/** Why the newest schema is not in force; `null` when it is, or is still being compiled. */
	readonly failure: PolicyFailure | null;
	/** `null` when the policy in force is that of the newest schema, whole. */
	readonly degraded: Degradation | null;
	/**
	 * Which schema's losses are suspended in the data, under which policy; `null` when none are. Data of one revision
	 * and one policy is the same only if this is the same too.
	 */
	readonly pending: string | null;
}

/** A head with a policy. */
export type LiveHead = Head & { readonly digest: string };

/** The policy in force, if it reads data of this version's layout; one published by an earlier version may not. */
export function policyInForce({ live }: Publications): PolicyInForce | null {
	return live?.layout === layout ? live : null;
}

/**
 * Computes the head, or `null` when the newest schema is still to be compiled. With `late` it need not be compiled: the
 * head then has the previous policy, and what the newer schema takes away is suspended.
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
 * The head that a unit sees, if it has the policy that the caller saw. `null` when the environment has moved on to
 * another policy, another lineage, or a schema that is still to be compiled.
 */
export async function headIn(unit: ReadingUnit, counters: EnvironmentCounters, seen: Head): Promise<LiveHead | null> {
	if (counters.lineage !== seen.lineage) return null;
	const late = seen.policy_revision < seen.revision;
	const changeAfter = (revision: number) => unit.schemaChangeAfter(revision);
	const head = await headAt(counters, await unit.publications(), changeAfter, late);
	return head !== null && head.digest !== null && head.digest === seen.digest ? { ...head, digest: head.digest } : null;
}
