import type { MatrixColumn, PolicyMatrix } from '../../../model/matrix/policy-matrix.js';
import type { SchemaObjects } from '../../../model/matrix/schema-objects.js';

/** What each part of the panel knows of the cell that it is about. */
export interface PanelProps {
	readonly column: MatrixColumn;
	readonly matrix: PolicyMatrix;
	/** The schema that is stored, and its revision. */
	readonly objects: SchemaObjects;
	readonly revision: number;
}
