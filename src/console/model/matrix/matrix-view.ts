import type { MatrixColumn, PolicyMatrix } from './policy-matrix.js';

/** Filter for the matrix. Texts match parts of keys and names and ignore case; empty texts match everything. */
export interface MatrixFilter {
	/** Part of a resource; after a colon, part of an action. */
	readonly resource: string;
	/** Part of a role or user set. */
	readonly role: string;
	/** Only this column kind; `null` for all. */
	readonly kind: MatrixColumn['kind'] | null;
	readonly fold: Fold;
}

/** Resources with hidden actions: all or none, with exceptions. */
export interface Fold {
	readonly all: boolean;
	readonly except: readonly string[];
}

/** Row: an action or a resource header. */
export interface MatrixRow {
	readonly resource: string;
	/** `null` for a header. */
	readonly action: string | null;
	readonly name: string;
}

/** Returns the filtered rows and columns. Shows a resource role if it leads to a shown resource. */
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

/** Toggles one resource. */
export function withFold({ all, except }: Fold, resource: string): Fold {
	const others = except.filter((one) => one !== resource);
	return { all, except: others.length === except.length ? [...except, resource] : others };
}

function matches(part: string, ...texts: readonly string[]): boolean {
	const wanted = part.trim().toLowerCase();
	return wanted === '' || texts.some((text) => text.toLowerCase().includes(wanted));
}
