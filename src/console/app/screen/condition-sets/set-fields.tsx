import type { Signal } from '@preact/signals';
import type { ConditionSetValue } from '../../../model/condition/condition-set-value.js';
import { KeyField } from '../../part/field/key-field.js';

interface SetFieldsProps {
	readonly setKey: Signal<string>;
	readonly isNew: boolean;
	readonly value: ConditionSetValue;
	/** If true, the set's type and resource cannot change, because rules depend on them. */
	readonly isStored: boolean;
	readonly resources: readonly string[];
	/** Keys of possible parent sets. */
	readonly parents: readonly string[];
	readonly onChange: (change: Partial<ConditionSetValue>) => void;
}

/** All fields of a condition set except its conditions. */
export function SetFields({ setKey, isNew, value, isStored, resources, parents, onChange }: SetFieldsProps) {
	const { type, resource, parent, name, description } = value;
	const offered = parent === null || parents.includes(parent) ? parents : [parent, ...parents];
	return (
		<form class="columns" onSubmit={(event) => event.preventDefault()}>
			{isNew && (
				<KeyField
					text={setKey.value}
					onText={(text) => {
						setKey.value = text;
					}}
				/>
			)}
			<label>
				<span>Name</span>
				<input
					type="text"
					required
					autocomplete="off"
					value={name}
					onInput={(event) => onChange({ name: event.currentTarget.value })}
				/>
			</label>
			<label>
				<span>Type</span>
				<select
					value={type}
					disabled={isStored}
					onChange={(event) => {
						const next = event.currentTarget.value as ConditionSetValue['type'];
						onChange({ type: next, resource: null, parent: null, parameters: next === 'grant' ? {} : undefined });
					}}
				>
					<option value="userset">Users</option>
					<option value="resourceset">Instances of a resource</option>
					<option value="grant">Condition for role assignments</option>
				</select>
			</label>
			{(type === 'resourceset' || (type === 'userset' && resources.length > 0)) && (
				<label>
					<span>{type === 'userset' ? 'Resource with the roles' : 'Resource'}</span>
					<select
						value={resource ?? ''}
						disabled={isStored}
						onChange={(event) => onChange({ resource: event.currentTarget.value || null, parent: null })}
					>
						<option value="">{type === 'userset' ? 'None' : 'Choose a resource'}</option>
						{resources.map((one) => (
							<option key={one} value={one}>
								{one}
							</option>
						))}
					</select>
				</label>
			)}
			{type !== 'grant' && (
				<label>
					<span>Parent set</span>
					<select value={parent ?? ''} onChange={(event) => onChange({ parent: event.currentTarget.value || null })}>
						<option value="">None</option>
						{offered.map((one) => (
							<option key={one} value={one}>
								{one}
							</option>
						))}
					</select>
				</label>
			)}
			<label class="whole">
				<span>Description</span>
				<input
					type="text"
					autocomplete="off"
					value={description ?? ''}
					onInput={(event) => onChange({ description: event.currentTarget.value || null })}
				/>
			</label>
		</form>
	);
}
