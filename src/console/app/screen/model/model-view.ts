import { groupBy } from '../../../model/group-by.js';
import type { PolicySchema } from '../../../model/matrix/policy-schema.js';
import type { SchemaObjects } from '../../../model/matrix/schema-objects.js';
import { type PartKind, type PartRow, partResource, type SchemaParts } from '../../../model/schema/schema-part.js';

/** The stored schema and the draft, as the model screen shows them. */
export interface ModelView {
	/** Stored schema and its revision. */
	readonly objects: SchemaObjects;
	readonly revision: number;
	/** Parts with the draft's changes. */
	readonly parts: SchemaParts;
	/** Stored and drafted parts, sorted by key. Each part is listed under its kind, and under its kind and resource. */
	readonly rows: ReadonlyMap<string, readonly PartRow[]>;
	/** Schema with the draft's changes. */
	readonly policy: PolicySchema;
}

/** Returns the rows for a kind, in one resource or (with `null`) in the whole environment. */
export function rowsOf({ rows }: ModelView, kind: PartKind, resource: string | null): readonly PartRow[] {
	return rows.get(rowsName(kind, resource)) ?? [];
}

/** Groups rows for `rowsOf`. */
export function groupRows(rows: readonly PartRow[]): ModelView['rows'] {
	const all = groupBy(rows, ({ part }) => rowsName(part.kind, null));
	const owned = groupBy(rows, ({ part }) => rowsName(part.kind, partResource(part)));
	return new Map([...owned, ...all]);
}

function rowsName(kind: PartKind, resource: string | null): string {
	return `${kind} ${resource ?? ''}`;
}
