import type { AcceptedKind } from '../../compiler/condition/accepted-kinds.js';
import type { Bound, ColumnKind } from './predicate.js';

/** The accepted values: all values in a column, or only values within a bound. */
export type Acceptance = 'all' | Bound;

/** Returns the column values that an operator accepts, or `none`; `undefined` if no test can express them. */
export function acceptanceOf(accepted: AcceptedKind, kind: ColumnKind): Acceptance | 'none' | undefined {
	if (kind === 'other') return undefined;
	switch (accepted) {
		case 'anything':
			return 'all';
		case 'compared':
			return kind === 'number' ? 'exact' : 'all';
		case 'orderable':
			if (kind === 'boolean') return 'none';
			return kind === 'number' ? 'exact' : 'all';
		case 'string':
			return isText(kind) ? 'all' : 'none';
		case 'searched':
			return isText(kind) ? 'searched' : 'none';
		case 'array':
		case 'list':
		case 'object':
			return 'none';
		case 'instant':
			if (kind === 'time') return 'all';
			return isText(kind) ? undefined : 'none';
		default:
			return isText(kind) ? undefined : 'none';
	}
}

function isText(kind: ColumnKind): boolean {
	return kind === 'string' || kind === 'uuid' || kind === 'time';
}
