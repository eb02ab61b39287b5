import type { Signal } from '@preact/signals';
import type { ConditionSetValue } from '../../../model/condition/condition-set-value.js';
import { SelectField } from '../../../part/select-field.js';
import { setter } from '../../../part/setter.js';
import { TextField } from '../../../part/text-field.js';
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
			{isNew && <KeyField text={setKey.value} onText={setter(setKey)} />}
			<TextField label="Name" required autocomplete="off" value={name} onValue={(text) => onChange({ name: text })} />
			<SelectField
				label="Type"
				value={type}
				disabled={isStored}
				options={{ userset: 'Users', resourceset: 'Instances of a resource', grant: 'Condition for grants' }}
				onValue={(next) =>
					onChange({ type: next, resource: null, parent: null, parameters: next === 'grant' ? {} : undefined })
				}
			/>
			{(type === 'resourceset' || (type === 'userset' && resources.length > 0)) && (
				<SelectField
					label={type === 'userset' ? 'Resource with the roles' : 'Resource'}
					value={resource ?? ''}
					disabled={isStored}
					empty={type === 'userset' ? 'None' : 'Choose a resource'}
					options={resources}
					onValue={(value) => onChange({ resource: value || null, parent: null })}
				/>
			)}
			{type !== 'grant' && (
				<SelectField
					label="Parent set"
					value={parent ?? ''}
					empty="None"
					options={offered}
					onValue={(value) => onChange({ parent: value || null })}
				/>
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
