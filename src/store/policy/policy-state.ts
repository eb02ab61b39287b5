import type { EnvironmentCounters } from '../unit/counters.js';
import type { SchemaChange } from '../unit/schema-change.js';
import type { LeftOut, PolicyInForce, Publications } from './publications.js';

/** Counters from an environment's row. */
export type Counters = Pick<EnvironmentCounters, 'revision' | 'schema_revision'>;

/** Active policy compared with the newest schema. */
export interface PolicyState {
	/** Newest revision that the active policy covers. */
	readonly policy_revision: number;
	/** `null` if the newest revision's policy is active and complete. */
	readonly degraded: {
		/**
		 * `compiling`: the newest schema is being compiled; `failed`: it cannot be compiled; `left_out`: it was
		 * compiled without the objects that broke it.
		 */
		readonly reason: 'compiling' | 'failed' | 'left_out';
		/** Start of this state, in ISO 8601 format. */
		readonly since: string;
		/** Human-readable messages from the compiler or OPA; empty while the schema is being compiled. */
		readonly detail: string;
	} | null;
}

/** Finds the first schema change after a revision. */
export type SchemaChangeAfter = (revision: number) => Promise<SchemaChange | null>;

/** Returns true if compiling the newest schema has failed. */
export function isFailed({ schema_revision }: Counters, { failed }: Publications): boolean {
	return (failed?.failed_revision ?? -1) >= schema_revision;
}

/** Compares the active policy with the newest schema in the counters. */
export async function policyState(
	counters: Counters,
	live: PolicyInForce,
	publications: Publications,
	schemaChangeAfter: SchemaChangeAfter,
): Promise<PolicyState> {
	const { left_out, published_at } = live;
	if (live.schema_revision >= counters.schema_revision) {
		const since = published_at.toISOString();
		const degraded =
			left_out.length === 0 ? null : ({ reason: 'left_out', since, detail: leftOutDetail(left_out) } as const);
		return { policy_revision: counters.revision, degraded };
	}
	const change = await schemaChangeAfter(live.schema_revision);
	const failure = isFailed(counters, publications) ? publications.failed?.failure : undefined;
	return {
		policy_revision: Math.max(live.schema_revision, (change?.revision ?? 0) - 1),
		degraded: {
			reason: failure === undefined ? 'compiling' : 'failed',
			since: (change?.created_at ?? published_at).toISOString(),
			detail: failure === undefined ? '' : [failure.message, ...failure.details].join('\n'),
		},
	};
}

function leftOutDetail(leftOut: readonly LeftOut[]): string {
	return leftOut.map(({ object, message }) => `${object} is excluded: ${message}`).join('\n');
}
