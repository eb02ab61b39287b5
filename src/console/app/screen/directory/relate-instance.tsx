import { useSignal } from '@preact/signals';
import { expiryMember } from '../../../model/instants.js';
import { Failure, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { ExpiryField } from '../../../part/expiry-field.js';
import { answered, management } from '../../api.js';
import { Combobox } from '../../part/combobox.js';
import { confirmWrite } from '../../part/confirm.js';
import { proposeInstanceNames } from '../../propose.js';
import { environmentPath } from '../../session.js';
import { reloadAll } from '../../use-loaded.js';
import { proposeRelations } from './propose-names.js';

/** Form that relates a second instance to this instance, with an optional expiry. */
export function RelateInstance({ object }: { readonly object: string }) {
	const subject = useSignal('');
	const relation = useSignal('');
	const end = useSignal('');
	const work = useWork();
	const [resource = ''] = object.split(':');
	const send = async () => {
		const said = `${subject.value} is ${relation.value} of ${object}.`;
		if (!(await confirmWrite('Add the relationship', `${said} Roles may be derived from that.`))) return;
		const body = { subject: subject.value, relation: relation.value, object, ...expiryMember(end.value) };
		await answered(
			management.POST('/v2/facts/{proj_id}/{env_id}/relationship_tuples', {
				params: { path: environmentPath() },
				body,
			}),
		);
		announce(said);
		subject.value = '';
		reloadAll();
	};
	return (
		<details class="directory-write">
			<summary>Relate an instance to it</summary>
			<form
				class="columns"
				onSubmit={(event) => {
					event.preventDefault();
					void work.run(send);
				}}
			>
				<Combobox
					label="Subject"
					placeholder="resource:key"
					required
					value={subject.value}
					onValue={(value) => {
						subject.value = value;
					}}
					propose={proposeInstanceNames}
				/>
				<Combobox
					label="is its"
					placeholder="relation"
					required
					value={relation.value}
					onValue={(value) => {
						relation.value = value;
					}}
					propose={proposeRelations(resource)}
				/>
				<ExpiryField end={end} />
				<div class="line whole">
					<button type="submit" class="primary" aria-disabled={work.busy}>
						Add the relationship
					</button>
				</div>
			</form>
			<Failure text={work.failure} />
		</details>
	);
}
