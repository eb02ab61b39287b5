import { useSignal } from '@preact/signals';
import { type ExpiryText, expiryMember } from '../../../../model/instants.js';
import { announce } from '../../../../part/announce.js';
import { ExpiryField } from '../../../../part/expiry-field.js';
import { bound } from '../../../../part/setter.js';
import { management } from '../../../api.js';
import { confirmWrite } from '../../../part/confirm.js';
import { Combobox } from '../../../part/field/combobox.js';
import { proposeInstanceNames, proposeRelations } from '../../../propose.js';
import { reloadAll } from '../../../use-loaded.js';
import { WriteForm } from '../write-form.js';

/** Form that relates a second instance to this instance, with an optional expiry. */
export function RelateInstance({ object }: { readonly object: string }) {
	const subject = useSignal('');
	const relation = useSignal('');
	const end = useSignal<ExpiryText>('');
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
		<WriteForm title="Add relationship" send={send}>
			<Combobox
				label="Subject"
				placeholder="resource:key"
				required
				{...bound(subject)}
				propose={proposeInstanceNames}
			/>
			<Combobox
				label="Relation"
				placeholder="relation"
				required
				{...bound(relation)}
				propose={proposeRelations(resource)}
			/>
			<ExpiryField end={end} />
		</WriteForm>
	);
}
