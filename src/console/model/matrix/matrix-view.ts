import type { MatrixColumn, PolicyMatrix } from './policy-matrix.js';

/**
 * Filter for the matrix. A text matches parts of keys and names and ignores case. An empty string matches everything.
 */
export interface MatrixFilter {
	/** Part of a resource's name. After a colon, part of an action's name. */
	readonly resource: string;
	/** Part of a role's or user set's name. */
	readonly role: string;
	/** Column kind to show; `null` for all kinds. */
	readonly kind: MatrixColumn['kind'] | null;
	readonly fold: Fold;
}

/** Resources whose actions are hidden: all resources or none, with exceptions. */
export interface Fold {
	readonly all: boolean;
	readonly except: readonly string[];
}

/** Row: an action or a resource header. */
export interface MatrixRow {
	readonly resource: string;
	/** Action in the row; `null` for a resource header. */
	readonly action: string | null;
	readonly name: string;
}

/**
 * Returns the rows and columns that match the filter. Omits a resource role that cannot grant an action on a visible
 * resource, even through derived roles.
 */
export function matrixView(
	matrix: PolicyMatrix,
	filter: MatrixFilter,
): { readonly rows: readonly MatrixRow[]; readonly columns: readonly MatrixColumn[] } {
	const rows = matrixRows(matrix, filter);
	const shown = new Set(rows.map(({ resource }) => resource));
	const isEverything = shown.size === matrix.schema.resources.size;
	const leadsHere = (column: MatrixColumn) =>
		isEverything || column.resource === null || [...matrix.reach(column)].some((one) => shown.has(one));
	const columns = matrix.columns.filter(
		(column) =>
			(filter.kind === null || column.kind === filter.kind) &&
			matches(filter.role, column.resource === null ? column.key : `${column.resource}:${column.key}`, column.name) &&
			leadsHere(column),
	);
	return { rows, columns };
}

function matrixRows({ schema }: PolicyMatrix, { resource: wanted, fold }: MatrixFilter): readonly MatrixRow[] {
	const colon = wanted.indexOf(':');
	const [ofResource, ofAction] = colon < 0 ? [wanted, ''] : [wanted.slice(0, colon), wanted.slice(colon + 1)];
	return [...schema.resources.values()].flatMap(({ key, name, actions }) => {
		if (!matches(ofResource, key, name)) return [];
		const shown = [...actions].filter(([action, title]) => matches(ofAction, action, title));
		if (ofAction !== '' && shown.length === 0) return [];
		const head = { resource: key, action: null, name };
		if (isFolded(fold, key)) return [head];
		return [head, ...shown.map(([action, title]) => ({ resource: key, action, name: title }))];
	});
}

/** True if a resource's actions are hidden. */
export function isFolded({ all, except }: Fold, resource: string): boolean {
	return all !== except.includes(resource);
}

/** Hides or shows a resource's actions. */
export function withFold({ all, except }: Fold, resource: string): Fold {
	const others = except.filter((one) => one !== resource);
	return { all, except: others.length === except.length ? [...except, resource] : others };
}

function matches(part: string, ...texts: readonly string[]): boolean {
	const wanted = part.trim().toLowerCase();
	return wanted === '' || texts.some((text) => text.toLowerCase().includes(wanted));
}
