/**
 * SQL condition: a row with `expires_at` has not expired. Uses the database's statement time, because the transaction
 * may have waited for its turn in the environment.
 */
export function holdsNow(table: string): string {
	return `(${table}.expires_at is null or ${table}.expires_at > statement_timestamp())`;
}

/** SQL expression: `expires_at` in milliseconds since 1970, or null. */
export function expiryMilliseconds(table: string): string {
	return `(extract(epoch from ${table}.expires_at) * 1000)::float8`;
}
