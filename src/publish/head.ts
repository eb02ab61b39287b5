/** Where an environment stands: its newest revision, the policy in force there, and whether that is the policy of it. */

import { layout } from '../../compiler/index.js';
import type { Degradation } from '../bundle.js';
import type { LeftOut, PolicyFailure, PolicyInForce, Publications } from '../store/policy.js';
import type { SchemaChange } from '../store/schema-change.js';
import type { ReadingUnit } from '../store/unit.js';

/** An environment's newest revision and the policy in force there. */
export interface Head {
	readonly revision: number;
	/** The newest revision whose policy is in force: `revision`, unless its schema is newer than the policy. */
	readonly policy_revision: number;
	/** Of the policy in force; `null` while no policy was ever compiled. */
	readonly digest: string | null;
	/** Why the newest schema is not in force; `null` when it is, or is still being compiled. */
	readonly failure: PolicyFailure | null;
	/** `null` when the policy in force is that of the newest schema, whole. */
	readonly degraded: Degradation | null;
	/**
	 * Which schema's losses are suspended in the data, under which policy: `null` when none are. Data of one revision and
	 * one policy is the same only where this is too.
	 */
	readonly pending: string | null;
}

/** A head with a policy. */
export type LiveHead = Head & { readonly digest: string };

/** The counters of an environment's row. */
export interface Counters {
	readonly revision: number;
	readonly schema_revision: number;
}

/** Finds the first change of the schema after a revision. */
export type SchemaChangeAfter = (revision: number) => Promise<SchemaChange | null>;

/**
 * The policy in force that data of this version may go with: one that reads another layout, of an earlier version, does
 * not count.
 */
export function policyInForce({ live }: Publications): PolicyInForce | null {
	return live?.layout === layout ? live : null;
}

/**
 * The head that counters and publications stand for, or `null` when the newest schema has yet to be compiled. With
 * `late` it need not be: the policy before goes with it, and what the newer schema takes away is suspended.
 */
export async function headAt(
	{ revision, schema_revision }: Counters,
	publications: Publications,
	schemaChangeAfter: SchemaChangeAfter,
	late: boolean,
): Promise<Head | null> {
	const { failed } = publications;
	const live = policyInForce(publications);
	const isTried = (failed?.failed_revision ?? -1) >= schema_revision;
	const failure = failed?.failure ?? null;
	if (live === null) {
		return isTried
			? { revision, policy_revision: revision, digest: null, failure, degraded: null, pending: null }
			: null;
	}
	const { digest, left_out, published_at } = live;
	if (live.schema_revision >= schema_revision) {
		const [first] = left_out;
		const since = published_at.toISOString();
		const degraded = first && { reason: 'left_out' as const, since, detail: leftOutDetail(left_out) };
		return {
			revision,
			policy_revision: revision,
			digest,
			failure: null,
			degraded: degraded ?? null,
			pending: first === undefined ? null : `${live.schema_revision}.${schema_revision}l`,
		};
	}
	if (!(isTried || late)) return null;
	const change = await schemaChangeAfter(live.schema_revision);
	const reason = isTried ? 'failed' : 'compiling';
	return {
		revision,
		policy_revision: Math.max(live.schema_revision, (change?.revision ?? 0) - 1),
		digest,
		failure: isTried ? failure : null,
		degraded: {
			reason,
			since: (change?.created_at ?? published_at).toISOString(),
			detail: isTried && failure !== null ? [failure.message, ...failure.details].join('\n') : '',
		},
		pending: `${live.schema_revision}.${schema_revision}${reason === 'failed' ? 'f' : 'c'}`,
	};
}

/**
 * The head that a unit sees, where it is of the policy that a caller saw; `null` when the environment has moved on to
 * another one, or to a schema that has yet to be compiled.
 */
export async function headIn(unit: ReadingUnit, counters: Counters, seen: Head): Promise<LiveHead | null> {
	const late = seen.policy_revision < seen.revision;
	const changeAfter = (revision: number) => unit.schemaChangeAfter(revision);
	const head = await headAt(counters, await unit.publications(), changeAfter, late);
	return head !== null && head.digest !== null && head.digest === seen.digest ? { ...head, digest: head.digest } : null;
}

function leftOutDetail(leftOut: readonly LeftOut[]): string {
	return leftOut.map(({ object, message }) => `${object} is left out: ${message}`).join('\n');
}
