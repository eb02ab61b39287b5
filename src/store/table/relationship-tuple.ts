import { EnvironmentModel } from './environment-model.js';

/** One relationship: the subject instance stands in a relation to the object instance, both in one tenant. */
export class RelationshipTuple extends EnvironmentModel {
	static override readonly tableName = 'relationship_tuples';
	static readonly kind = 'relationship_tuple';
	static readonly title = 'RelationshipTuple';

	declare subject_id: string;
	declare relation_id: string;
	declare object_id: string;
	declare tenant_id: string;
	declare updated_at: Date;
}
