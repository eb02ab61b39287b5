import type { MatrixColumn, PolicyMatrix } from './policy-matrix.js';

/** What is shown of a matrix. Texts are parts of keys and names, whatever their case; empty ones match everything. */
export interface MatrixFilter {
	/** A part of a resource; with a colon, of an action behind it. */
	readonly resource: string;
	/** A part of a role or user set. */
	readonly role: string;
	/** The only kind of columns that is shown. */
	readonly kind: MatrixColumn['kind'] | null;
	readonly fold: Fold;
}

/** Which resources show no actions: all or none of them, except some. */
export interface Fold {
	readonly all: boolean;
	readonly except: readonly string[];
}

/** A row: an action, or the head of a resource. */
export interface MatrixRow {
	readonly resource: string;
	/** `null` for the head. */
	readonly action: string | null;
	readonly name: string;
}

/** The rows and columns that a filter leaves. A role of a resource is shown if it leads to one of the resources. */
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

/** Whether a resource shows no actions. */
export function isFolded({ all, except }: Fold, resource: string): boolean {
	return all !== except.includes(resource);
}

/** The same with one resource folded or unfolded. */
export function withFold({ all, except }: Fold, resource: string): Fold {
	const others = except.filter((one) => one !== resource);
	return { all, except: others.length === except.length ? [...except, resource] : others };
}

function matches(part: string, ...texts: readonly string[]): boolean {
	const wanted = part.trim().toLowerCase();
	return wanted === '' || texts.some((text) => text.toLowerCase().includes(wanted));
}
