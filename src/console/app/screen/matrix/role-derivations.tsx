import { useSignal } from '@preact/signals';
import { toggleDerivation } from '../../../model/matrix/matrix-edit.js';
import { derivationSource } from '../../../model/matrix/matrix-words.js';
import { columnRole } from '../../../model/matrix/policy-matrix.js';
import { type Derivation, derivationName, possibleDerivations } from '../../../model/matrix/policy-schema.js';
import { phraseText } from '../../../model/phrase.js';
import { Button } from '../../../part/button.js';
import { SelectField } from '../../../part/select-field.js';
import { bound } from '../../../part/setter.js';
import { editDraft } from '../../current-draft.js';
import { PhraseText } from '../../part/phrase-text.js';
import { mayWrite } from '../../session.js';
import type { PanelProps } from './panel-props.js';

/** A resource role's derivations, and possible new derivations. */
export function RoleDerivations({ column, matrix, objects, revision }: PanelProps) {
	const role = columnRole(column);
	const wanted = useSignal('');
	const derivations = matrix.schema.resourceRoles.get(role)?.derivations ?? [];
	const choices = possibleDerivations(matrix.schema, column.resource ?? '').filter(
		(one) => !derivations.some((other) => derivationName(one) === derivationName(other)),
	);
	const toggle = (derivation: Derivation) =>
		editDraft(revision, (draft) => toggleDerivation(objects, draft, role, derivation));
	if (derivations.length === 0 && (choices.length === 0 || !mayWrite.value)) return null;
	return (
		<section aria-label="Role derivations">
			<h3>Derived from</h3>
			<ul class="matrix-reasons">
				{derivations.map((derivation) => (
					<li key={derivationName(derivation)}>
						<PhraseText phrases={derivationSource(derivation)} />{' '}
						{mayWrite.value && (
							<Button class="link" onClick={() => toggle(derivation)}>
								Remove
							</Button>
						)}
					</li>
				))}
			</ul>
			{derivations.length === 0 && <p class="quiet">No derivations: the role is only assigned directly.</p>}
			{mayWrite.value && choices.length > 0 && (
				<form
					onSubmit={(event) => {
						event.preventDefault();
						const chosen = choices.find((one) => derivationName(one) === wanted.value);
						if (chosen !== undefined) toggle(chosen);
						wanted.value = '';
					}}
				>
					<SelectField
						label="Derive from"
						{...bound(wanted)}
						empty="Choose a role and a relation"
						options={choices.map((one) => [derivationName(one), phraseText(derivationSource(one)).replaceAll('`', '')])}
					/>
					<button type="submit" disabled={wanted.value === ''}>
						Add derivation
					</button>
				</form>
			)}
		</section>
	);
}
