/** Statements that are allowed on a full disk: reads, and statements that control transactions, locks or settings. */
const allowedWhenFull =
	/^\s*(begin|commit|end|rollback|savepoint|release|lock|show|set|select|explain|with|checkpoint)\b/i;
/** Write statements that may occur inside a common table expression. */
const writeInWith = /\b(insert\s+into|update|delete\s+from|merge\s+into)\b/i;

/** Returns true if a statement writes to tables, judging by its SQL. Locking rows is considered reading. */
export function writes(sql: string): boolean {
	return !allowedWhenFull.test(sql) || (/^\s*with\b/i.test(sql) && writeInWith.test(sql));
}

/** Transaction boundary set by a statement. */
export type Boundary = 'begin' | 'commit' | 'rollback';

/**
 * Returns the transaction boundary set by a statement, or `null` if it neither begins nor ends a transaction. Rolling
 * back to a savepoint is not a boundary.
 */
export function boundary(sql: string): Boundary | null {
	if (/^\s*begin\b/i.test(sql)) return 'begin';
	if (/^\s*commit\s*;?\s*$/i.test(sql)) return 'commit';
	return /^\s*rollback\s*;?\s*$/i.test(sql) ? 'rollback' : null;
}

/** Estimates the size of a statement's values, in bytes. */
export function bytesIn(bindings: readonly unknown[]): number {
	return bindings.reduce<number>((sum, value) => sum + byteSize(value), 0);
}

function byteSize(value: unknown): number {
	if (typeof value === 'string') return value.length;
	if (value instanceof Uint8Array) return value.byteLength;
	if (Array.isArray(value)) return bytesIn(value);
	if (typeof value === 'object' && value !== null && !(value instanceof Date)) return JSON.stringify(value).length;
	return 8;
}
