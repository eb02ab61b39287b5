/** Statements that begin or end something, or read: they go on when there is no room. */
const harmless = /^\s*(begin|commit|end|rollback|savepoint|release|lock|show|set|select|explain|with|checkpoint)\b/i;
/** What a query with a common table expression may do beside reading. */
const writing = /\b(insert\s+into|update|delete\s+from|merge\s+into)\b/i;

/** Whether a statement writes to tables, as far as its text tells: one that locks rows counts as one that reads. */
export function writes(sql: string): boolean {
	return !harmless.test(sql) || (/^\s*with\b/i.test(sql) && writing.test(sql));
}

/** How a statement begins a transaction, or ends one. */
export type Boundary = 'begin' | 'commit' | 'rollback';

/** Whether a statement begins a transaction, or ends one; going back to a savepoint is neither. */
export function boundary(sql: string): Boundary | null {
	if (/^\s*begin\b/i.test(sql)) return 'begin';
	if (/^\s*commit\s*;?\s*$/i.test(sql)) return 'commit';
	return /^\s*rollback\s*;?\s*$/i.test(sql) ? 'rollback' : null;
}

/** About how many bytes of text, of bytes and of JSON a statement is given. */
export function bytesIn(bindings: readonly unknown[]): number {
	return bindings.reduce<number>((sum, value) => sum + sizeOf(value), 0);
}

function sizeOf(value: unknown): number {
	if (typeof value === 'string') return value.length;
	if (value instanceof Uint8Array) return value.byteLength;
	if (Array.isArray(value)) return bytesIn(value);
	if (typeof value === 'object' && value !== null && !(value instanceof Date)) return JSON.stringify(value).length;
	return 8;
}
