import type { PartForm } from '../../../model/schema/part-form.js';
import type { PartKind } from '../../../model/schema/schema-part.js';
import { KeyText } from '../../part/key-text.js';
import { LazyDetails } from '../../part/lazy-details.js';
import { CheckList, Checks } from './check-list.js';
import type { ModelView } from './model-view.js';

interface PermissionFieldsProps {
	readonly view: ModelView;
	readonly kind: PartKind;
	readonly resource: string | null;
	readonly form: PartForm;
	readonly onChange: (change: Partial<PartForm>) => void;
}

/** Maximum number of resources whose actions are shown at first. */
const mostOpen = 4;

/** Actions of a role or action group. Tenant roles choose from the actions of all resources. */
export function PermissionFields({ view: { policy }, kind, resource, form, onChange }: PermissionFieldsProps) {
	const choose = (permissions: readonly string[]) => onChange({ permissions });
	if (kind !== 'role') {
		const actions = [...(policy.resources.get(resource ?? '')?.actions.keys() ?? [])].sort();
		return (
			<CheckList
				legend={kind === 'action_group' ? 'Actions' : 'Permissions'}
				choices={actions.map((key) => ({ value: key, phrases: [{ name: key }] }))}
				empty="This resource has no actions yet."
				chosen={form.permissions}
				onChosen={choose}
			/>
		);
	}
	const resources = [...policy.resources.values()].filter(({ actions }) => actions.size > 0);
	return (
		<fieldset>
			<legend>Permissions</legend>
			{resources.length === 0 && <p class="quiet">Add a resource with actions first.</p>}
			{resources.map(({ key, actions }) => {
				const count = form.permissions.filter((one) => one.startsWith(`${key}:`)).length;
				return (
					<LazyDetails
						key={key}
						class="model-permissions"
						isFirst={resources.length <= mostOpen}
						summary={
							<>
								<KeyText text={key} />{' '}
								<span class="quiet">
									{count} of {actions.size}
								</span>
							</>
						}
					>
						{() => (
							<Checks
								choices={[...actions.keys()].sort().map((action) => ({
									value: `${key}:${action}`,
									phrases: [{ name: action }],
								}))}
								chosen={form.permissions}
								onChosen={choose}
							/>
						)}
					</LazyDetails>
				);
			})}
		</fieldset>
	);
}
