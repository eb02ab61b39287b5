import type { MatrixColumn, PolicyMatrix } from '../../../model/matrix/policy-matrix.js';
import type { SchemaObjects } from '../../../model/matrix/schema-objects.js';

/** Props shared by all parts of a cell's panel. */
export interface PanelProps {
	readonly column: MatrixColumn;
	readonly matrix: PolicyMatrix;
	/** Stored schema and its revision. */
	readonly objects: SchemaObjects;
	readonly revision: number;
}
