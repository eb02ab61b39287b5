import type { Knex } from 'knex';

/** Estimated size of an environment's decisions for a day. */
export interface AuditLogUsage {
	readonly environment_id: string;
	/** Day on which the decisions were received, in the form `2026-01-31`. */
	readonly day: string;
	readonly bytes: number;
}

/** Reads the usage of all environments, oldest day first. */
export async function readUsage(database: Knex): Promise<readonly AuditLogUsage[]> {
	const { rows } = await database.raw<{ readonly rows: readonly AuditLogUsage[] }>(
		`select environment_id, received_on::text as day, bytes::float8 as bytes from audit_logs_usage
		order by received_on, environment_id`,
	);
	return rows;
}

/** Sums the usage per environment, in bytes. */
export function usageByEnvironment(usage: readonly AuditLogUsage[]): ReadonlyMap<string, number> {
	const sums = new Map<string, number>();
	for (const { environment_id, bytes } of usage) sums.set(environment_id, (sums.get(environment_id) ?? 0) + bytes);
	return sums;
}

/**
 * Returns the maximum share per environment (max-min fairness): the total stays within the limit, and environments with
 * a small usage keep everything. Returns infinity while the total is below the limit.
 */
export function fairShare(used: Iterable<number>, limit: number): number {
	const sizes = [...used].sort((one, other) => one - other);
	let left = limit;
	for (const [index, size] of sizes.entries()) {
		const share = left / (sizes.length - index);
		if (size >= share) return share;
		left -= size;
	}
	return Number.POSITIVE_INFINITY;
}
