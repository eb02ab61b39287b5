import type { EnvironmentCounters } from '../unit/counters.js';
import type { SchemaChange } from '../unit/schema-change.js';
import type { LeftOut, PolicyInForce, Publications } from './publications.js';

/** The counters of an environment's row. */
export type Counters = Pick<EnvironmentCounters, 'revision' | 'schema_revision'>;

/** How the policy in force compares with the newest schema. */
export interface PolicyState {
	/** The newest revision whose policy is in force. */
	readonly policy_revision: number;
	/** `null` when that is the newest revision and nothing was left out of its policy. */
	readonly degraded: {
		/**
		 * Whether the newest schema is being compiled, cannot be compiled, or was compiled without the objects that
		 * broke it.
		 */
		readonly reason: 'compiling' | 'failed' | 'left_out';
		/** When that began; ISO 8601. */
		readonly since: string;
		/** What the compiler or OPA said, for people; empty while it compiles. */
		readonly detail: string;
	} | null;
}

/** Finds the first change of the schema after a revision. */
export type SchemaChangeAfter = (revision: number) => Promise<SchemaChange | null>;

/** Whether compiling the newest schema was tried and failed. */
export function isFailed({ schema_revision }: Counters, { failed }: Publications): boolean {
	return (failed?.failed_revision ?? -1) >= schema_revision;
}

/** Compares the policy in force with the schema that the counters are of. */
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
	return leftOut.map(({ object, message }) => `${object} is left out: ${message}`).join('\n');
}
