import type { ComponentChildren } from 'preact';
import { type CheckForm, objectProblem } from '../../../model/check/check-form.js';
import { proposeActions, proposeInstanceKeys, proposeResources, proposeTenants, proposeUsers } from '../../propose.js';
import { Combobox } from './combobox.js';
import { JsonField } from './json-field.js';

interface CheckInputsProps {
	readonly form: CheckForm;
	readonly onField: (name: keyof CheckForm, text: string) => void;
	/** True for a filter: it covers all instances of the resource, in every tenant unless a tenant is given. */
	readonly coversInstances?: boolean;
	/** Fields that follow the tenant. */
	readonly children?: ComponentChildren;
}

/** Fields for a check, for use in a form with columns. */
export function CheckInputs({ form, onField, coversInstances = false, children }: CheckInputsProps) {
	const { resource, tenant } = form;
	const hasAttributes = form.userAttributes !== '' || form.resourceAttributes !== '' || form.context !== '';
	const set = (name: keyof CheckForm) => (text: string) => onField(name, text);
	return (
		<>
			<Combobox label="User" value={form.user} onValue={set('user')} propose={proposeUsers} required />
			<Combobox
				label="Action"
				value={form.action}
				onValue={set('action')}
				propose={(text, signal) => proposeActions(resource, text, signal)}
				required
			/>
			<Combobox
				label="Resource"
				value={resource}
				onValue={set('resource')}
				propose={proposeResources}
				placeholder={coversInstances ? 'document' : 'document, or document:budget'}
				required
			/>
			{!coversInstances && (
				<Combobox
					label="Instance"
					value={form.instance}
					onValue={set('instance')}
					propose={(text, signal) => proposeInstanceKeys({ resource, tenant }, text, signal)}
					placeholder="none"
				/>
			)}
			<Combobox
				label="Tenant"
				value={tenant}
				onValue={set('tenant')}
				propose={proposeTenants}
				placeholder={coversInstances ? 'every tenant' : 'default'}
			/>
			{children}
			<details class="whole" open={hasAttributes}>
				<summary>Attributes and context</summary>
				<div class="check-attributes">
					<JsonField
						label="User attributes"
						text={form.userAttributes}
						onText={set('userAttributes')}
						problem={objectProblem(form.userAttributes)}
					/>
					<JsonField
						label="Resource attributes"
						text={form.resourceAttributes}
						onText={set('resourceAttributes')}
						problem={objectProblem(form.resourceAttributes)}
					/>
					<JsonField
						label="Context"
						text={form.context}
						onText={set('context')}
						problem={objectProblem(form.context)}
					/>
				</div>
				<p class="quiet">Enter JSON objects. Attributes entered here override stored attributes with the same name.</p>
			</details>
		</>
	);
}
