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
	/** Stored and drafted parts, sorted by key. */
	readonly rows: readonly PartRow[];
	/** Schema with the draft's changes. */
	readonly policy: PolicySchema;
}

/** Returns the rows for a kind, in one resource or (with `null`) in the whole environment. */
export function rowsOf({ rows }: ModelView, kind: PartKind, resource: string | null): readonly PartRow[] {
	return rows.filter(({ part }) => part.kind === kind && (resource === null || partResource(part) === resource));
}
