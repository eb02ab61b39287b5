import { useSignal } from '@preact/signals';
import { type ConditionForm, noCondition, readConditionForm } from '../../../../model/grant-condition.js';
import { type ExpiryText, expiryMember } from '../../../../model/instants.js';
import { announce } from '../../../../part/announce.js';
import { ExpiryField } from '../../../../part/expiry-field.js';
import { bound } from '../../../../part/setter.js';
import { management } from '../../../api.js';
import { confirmWrite } from '../../../part/confirm.js';
import { Combobox } from '../../../part/field/combobox.js';
import { proposeInstanceNames, proposeRelations } from '../../../propose.js';
import { reloadAll, useSideData } from '../../../use-loaded.js';
import { useSettled } from '../../../use-settled.js';
import { ConditionFields } from '../condition-fields.js';
import { readRelationConditions } from '../read-assignable-role.js';
import { WriteForm } from '../write-form.js';

/** Form that relates a second instance to this instance, with an optional expiry and condition. */
export function RelateInstance({ object }: { readonly object: string }) {
	const subject = useSignal('');
	const relation = useSignal('');
	const end = useSignal<ExpiryText>('');
	const condition = useSignal<ConditionForm>(noCondition);
	const [resource = ''] = object.split(':');
	const asked = useSettled(relation.value, 200);
	const found = useSideData(
		async (signal) => (asked === '' ? null : readRelationConditions(resource, asked, signal)),
		[resource, asked],
	);
	/** The chosen relation's conditions; `null` until they are loaded. */
	const declared = found.value?.key === relation.value ? found.value : null;
	const setRelation = (value: string) => {
		relation.value = value;
		condition.value = noCondition;
	};
	const send = async () => {
		const known = declared ?? (await readRelationConditions(resource, relation.value, AbortSignal.timeout(30_000)));
		if (declared === null && known.conditions.length > 0)
			throw new Error(
				'This relation has conditions. Choose a condition, or select “Add relationship” again to add it without one.',
			);
		const read = readConditionForm(condition.value, known.conditions, `relation ${relation.value}`);
		const under = read === null ? '' : ` under ${read.set}`;
		const added = `relation ${relation.value} from ${subject.value} to ${object}${under}`;
		if (!(await confirmWrite('Add relationship', `Add ${added}? Users may get roles derived through it.`))) return;
		const body = {
			subject: subject.value,
			relation: relation.value,
			object,
			...expiryMember(end.value),
			...(read !== null && { condition: read }),
		};
		await management.post('/v2/facts/{proj_id}/{env_id}/relationship_tuples', { body });
		announce(`Added ${added}.`);
		subject.value = '';
		condition.value = noCondition;
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
				value={relation.value}
				onValue={setRelation}
				propose={proposeRelations(resource)}
			/>
			<ExpiryField end={end} />
			{declared !== null && declared.conditions.length > 0 && (
				<ConditionFields grant="relationship" conditions={declared.conditions} form={condition} />
			)}
		</WriteForm>
	);
}
