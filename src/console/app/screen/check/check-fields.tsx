import { useEffect, useState } from 'preact/hooks';
import {
	type CheckForm,
	emptyCheckForm,
	formProblem,
	objectProblem,
	separateInstance,
} from '../../../model/check/check-form.js';
import { Failure } from '../../../part/action-button.js';
import { Combobox } from '../../part/combobox.js';
import { JsonField } from '../../part/json-field.js';
import {
	proposeActions,
	proposeInstanceKeys,
	proposeResources,
	proposeRevisions,
	proposeTenants,
	proposeUsers,
} from '../../propose.js';

interface CheckFieldsProps {
	/** Check described by the address. */
	readonly form: CheckForm;
	readonly onAsk: (form: CheckForm) => void;
}

/** Fields for a check. The check is sent only when the form is submitted. */
export function CheckFields({ form, onAsk }: CheckFieldsProps) {
	const [edited, setEdited] = useState(form);
	const [problem, setProblem] = useState<string | null>(null);
	// The address may change without typing: by "back", or by a button in the answer.
	useEffect(() => setEdited(form), [JSON.stringify(form)]);
	const field = (name: keyof CheckForm) => (text: string) => setEdited((before) => ({ ...before, [name]: text }));
	const { resource, tenant } = edited;
	const hasAttributes = edited.userAttributes !== '' || edited.resourceAttributes !== '' || edited.context !== '';
	const isChanged = JSON.stringify(separateInstance(edited)) !== JSON.stringify(form) && form !== emptyCheckForm;
	return (
		<form
			class="check-form columns"
			aria-label="Check"
			onSubmit={(event) => {
				event.preventDefault();
				const wrong = formProblem(edited);
				setProblem(wrong);
				if (wrong === null) onAsk(separateInstance(edited));
			}}
		>
			<Combobox label="User" value={edited.user} onValue={field('user')} propose={proposeUsers} required />
			<Combobox
				label="Action"
				value={edited.action}
				onValue={field('action')}
				propose={(text, signal) => proposeActions(resource, text, signal)}
				required
			/>
			<Combobox
				label="Resource"
				value={resource}
				onValue={field('resource')}
				propose={proposeResources}
				placeholder="document, or document:budget"
				required
			/>
			<Combobox
				label="Instance"
				value={edited.instance}
				onValue={field('instance')}
				propose={(text, signal) => proposeInstanceKeys({ resource, tenant }, text, signal)}
				placeholder="none"
			/>
			<Combobox
				label="Tenant"
				value={tenant}
				onValue={field('tenant')}
				propose={proposeTenants}
				placeholder="default"
			/>
			<Combobox
				label="Revision"
				value={edited.revision}
				// The token and the time belong to the previous revision.
				onValue={(revision) => setEdited((before) => ({ ...before, revision, token: '', at: '' }))}
				propose={proposeRevisions}
				placeholder="newest"
			/>
			<details class="whole" open={hasAttributes}>
				<summary>Attributes and context</summary>
				<div class="check-attributes">
					<JsonField
						label="User attributes"
						text={edited.userAttributes}
						onText={field('userAttributes')}
						problem={objectProblem(edited.userAttributes)}
					/>
					<JsonField
						label="Resource attributes"
						text={edited.resourceAttributes}
						onText={field('resourceAttributes')}
						problem={objectProblem(edited.resourceAttributes)}
					/>
					<JsonField
						label="Context"
						text={edited.context}
						onText={field('context')}
						problem={objectProblem(edited.context)}
					/>
				</div>
				<p class="quiet">Enter JSON objects. Attributes entered here override stored attributes with the same name.</p>
			</details>
			<div class="whole line">
				<button type="submit" class="primary">
					Run check
				</button>
				{isChanged && <span class="quiet">The result below is for the previous check.</span>}
				<Failure text={problem} />
			</div>
		</form>
	);
}
