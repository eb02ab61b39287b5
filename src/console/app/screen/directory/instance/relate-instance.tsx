import { useSignal } from '@preact/signals';
import { type ExpiryText, expiryMember } from '../../../../model/instants.js';
import { Failure, SubmitButton, useWork } from '../../../../part/action-button.js';
import { announce } from '../../../../part/announce.js';
import { ExpiryField } from '../../../../part/expiry-field.js';
import { setter } from '../../../../part/setter.js';
import { management } from '../../../api.js';
import { confirmWrite } from '../../../part/confirm.js';
import { Combobox } from '../../../part/field/combobox.js';
import { proposeInstanceNames, proposeRelations } from '../../../propose.js';
import { reloadAll } from '../../../use-loaded.js';

/** Form that relates a second instance to this instance, with an optional expiry. */
export function RelateInstance({ object }: { readonly object: string }) {
	const subject = useSignal('');
	const relation = useSignal('');
	const end = useSignal<ExpiryText>('');
	const work = useWork();
	const [resource = ''] = object.split(':');
	const send = async () => {
		const added = `relation ${relation.value} from ${subject.value} to ${object}`;
		if (!(await confirmWrite('Add relationship', `Add ${added}? Roles may be derived from it.`))) return;
		const body = { subject: subject.value, relation: relation.value, object, ...expiryMember(end.value) };
		await management.post('/v2/facts/{proj_id}/{env_id}/relationship_tuples', { body });
		announce(`Added ${added}.`);
		subject.value = '';
		reloadAll();
	};
	return (
		<details class="directory-write">
			<summary>Add relationship</summary>
			<form class="columns" onSubmit={work.submit(send)}>
				<Combobox
					label="Subject"
					placeholder="resource:key"
					required
					value={subject.value}
					onValue={setter(subject)}
					propose={proposeInstanceNames}
				/>
				<Combobox
					label="Relation"
					placeholder="relation"
					required
					value={relation.value}
					onValue={setter(relation)}
					propose={proposeRelations(resource)}
				/>
				<ExpiryField end={end} />
				<div class="line whole">
					<SubmitButton work={work}>Add relationship</SubmitButton>
				</div>
			</form>
			<Failure text={work.failure} />
		</details>
	);
}
