/**
 * Returns an SQL condition that is true if a row with `expires_at` has not expired. Uses the statement's start time,
 * because the transaction may have started much earlier and waited for the environment's lock.
 */
export function holdsNow(table: string): string {
	return `(${table}.expires_at is null or ${table}.expires_at > statement_timestamp())`;
}

/** Returns an SQL expression for `expires_at` in milliseconds since 1970, or null. */
export function expiryMilliseconds(table: string): string {
	return `(extract(epoch from ${table}.expires_at) * 1000)::float8`;
}
