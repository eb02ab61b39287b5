import { KeyedModel } from './environment-model.js';

/** A relation that instances of the subject resource may have to instances of the resource it belongs to. */
export class Relation extends KeyedModel {
	static override readonly tableName = 'relations';
	static readonly kind = 'relation';
	static readonly title = 'Relation';

	/** The resource of the objects. */
	declare resource_id: string;
	declare subject_resource_id: string;
	declare name: string;
	declare description: string | null;
}
