import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import {
	type GrantParameters,
	type ParameterType,
	parameterProblem,
	parameterTypes,
} from '../../../model/grant-condition.js';
import { visibleText } from '../../../model/visible-text.js';
import { Failure } from '../../../part/action-button.js';
import { Button } from '../../../part/button.js';
import { SelectField } from '../../../part/select-field.js';
import { bound } from '../../../part/setter.js';
import { KeyText } from '../../part/key-text.js';

interface ParameterFieldsProps {
	readonly parameters: GrantParameters;
	readonly onParameters: (parameters: GrantParameters) => void;
}

/** A `grant` set's parameters, with a form to add a parameter. */
export function ParameterFields({ parameters, onParameters }: ParameterFieldsProps) {
	const name = useSignal('');
	const type = useSignal<ParameterType>('string');
	const problem = useSignal<string | null>(null);
	const field = useRef<HTMLInputElement>(null);
	return (
		<section aria-label="Parameters">
			<h2>Parameters</h2>
			<p class="quiet">
				Each assignment stores a value for each parameter. Conditions compare the values as grant.name. Parameters
				cannot change while a role is assigned under the set.
			</p>
			{Object.entries(parameters).map(([key, { type }]) => (
				<div key={key} class="line condition-sets-parameter">
					<strong>
						<KeyText text={key} />
					</strong>
					<span class="quiet">{parameterTypes[type]}</span>
					<Button
						aria-label={`Remove parameter ${visibleText(key)}`}
						onClick={() => {
							const { [key]: _, ...others } = parameters;
							onParameters(others);
							field.current?.focus();
						}}
					>
						Remove
					</Button>
				</div>
			))}
			<form
				class="line"
				onSubmit={(event) => {
					event.preventDefault();
					problem.value = parameterProblem(name.value, parameters);
					if (problem.value === null) {
						onParameters({ ...parameters, [name.value]: { type: type.value } });
						name.value = '';
					}
					field.current?.focus();
				}}
			>
				<label class="inline">
					<span>Name</span>
					<input
						ref={field}
						type="text"
						autocomplete="off"
						autocapitalize="off"
						spellcheck={false}
						maxLength={512}
						value={name.value}
						onInput={(event) => {
							name.value = event.currentTarget.value;
							problem.value = null;
						}}
					/>
				</label>
				<SelectField inline label="Type" {...bound(type)} options={parameterTypes} />
				<button type="submit">Add parameter</button>
			</form>
			<Failure text={problem.value} />
		</section>
	);
}
