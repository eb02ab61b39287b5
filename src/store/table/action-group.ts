import { EnvironmentModel, KeyedModel } from './environment-model.js';

/** A named group of actions of one resource. */
export class ActionGroup extends KeyedModel {
	static override readonly tableName = 'action_groups';
	static override readonly jsonAttributes = ['attributes'];
	static readonly kind = 'action_group';
	static readonly title = 'ResourceActionGroup';

	declare resource_id: string;
	declare name: string;
	declare description: string | null;
	declare attributes: Record<string, unknown> | null;
}

/** One action in one group. `position` keeps the order they were given in. */
export class ActionGroupAction extends EnvironmentModel {
	static override readonly tableName = 'action_group_actions';
	static readonly kind = 'action_group';
	static readonly title = 'ResourceActionGroupAction';

	declare action_group_id: string;
	declare action_id: string;
	declare position: number;

	static override get idColumn(): string[] {
		return ['environment_id', 'action_group_id', 'action_id'];
	}
}
