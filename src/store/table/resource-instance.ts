import { KeyedModel } from './environment-model.js';

/** One thing of a resource type, in one tenant. */
export class ResourceInstance extends KeyedModel {
	static override readonly tableName = 'resource_instances';
	static override readonly jsonAttributes = ['attributes'];
	static readonly kind = 'resource_instance';
	static readonly title = 'ResourceInstance';

	declare resource_id: string;
	declare tenant_id: string;
	declare attributes: Record<string, unknown>;
}
