import { useEffect, useState } from 'preact/hooks';
import { type CheckForm, emptyCheckForm, formProblem, separateInstance } from '../../../model/check/check-form.js';
import { Failure } from '../../../part/action-button.js';
import { CheckInputs } from '../../part/field/check-inputs.js';
import { Combobox } from '../../part/field/combobox.js';
import { ContextualFields } from '../../part/field/contextual-fields.js';
import { proposeRevisions } from '../../propose.js';

interface CheckFieldsProps {
	/** Check in the URL. */
	readonly form: CheckForm;
	/** True for the fields of a filter. */
	readonly coversInstances?: boolean;
	readonly onAsk: (form: CheckForm) => void;
}

/** Form for a check or a filter. */
export function CheckFields({ form, coversInstances = false, onAsk }: CheckFieldsProps) {
	const [edited, setEdited] = useState(form);
	const [problem, setProblem] = useState<string | null>(null);
	// The URL may change without typing: by "back", or by a button in the result.
	useEffect(() => setEdited(form), [JSON.stringify(form)]);
	const field = (name: keyof CheckForm, text: string) => setEdited((before) => ({ ...before, [name]: text }));
	const isChanged = JSON.stringify(separateInstance(edited)) !== JSON.stringify(form) && form !== emptyCheckForm;
	return (
		<form
			class="check-form columns"
			aria-label={coversInstances ? 'Filter' : 'Check'}
			onSubmit={(event) => {
				event.preventDefault();
				const wrong = formProblem(edited);
				setProblem(wrong);
				if (wrong === null) onAsk(separateInstance(edited));
			}}
		>
			<CheckInputs form={edited} onField={field} coversInstances={coversInstances}>
				{!coversInstances && (
					<Combobox
						label="Revision"
						value={edited.revision}
						// The token and the time belong to the previous revision.
						onValue={(revision) => setEdited((before) => ({ ...before, revision, token: '', at: '' }))}
						propose={proposeRevisions}
						placeholder="newest"
					/>
				)}
			</CheckInputs>
			{!coversInstances && (
				<ContextualFields text={edited.contextualFacts} onText={(text) => field('contextualFacts', text)} />
			)}
			<div class="whole line">
				<button type="submit" class="primary">
					{coversInstances ? 'Show filter' : 'Run check'}
				</button>
				{isChanged && (
					<span class="quiet">The result below is for the previous {coversInstances ? 'filter' : 'check'}.</span>
				)}
				<Failure text={problem} />
			</div>
		</form>
	);
}
