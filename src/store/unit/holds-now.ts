/**
 * A condition in SQL: the row of a table with `expires_at` has not expired, by the clock of the database. It goes by the
 * time of the statement, because a transaction may have waited for its turn in the environment since it began.
 */
export function holdsNow(table: string): string {
	return `(${table}.expires_at is null or ${table}.expires_at > statement_timestamp())`;
}

/** An expression in SQL: the `expires_at` of a table in milliseconds since 1970; null where there is none. */
export function expiryMilliseconds(table: string): string {
	return `(extract(epoch from ${table}.expires_at) * 1000)::float8`;
}
