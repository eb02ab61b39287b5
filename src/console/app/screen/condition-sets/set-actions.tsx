import type { ConditionSetValue } from '../../../model/condition/condition-set-value.js';
import { management } from '../../api.js';
import { SaveActions } from '../../part/save-actions.js';
import { screenPath } from '../../screen-path.js';

interface SetActionsProps {
	readonly setKey: string;
	/** Stored set; `null` if the environment does not contain it. */
	readonly stored: ConditionSetValue | null;
	readonly value: ConditionSetValue;
	/** Revision of the stored schema when editing began. */
	readonly revision: number;
	readonly isChanged: boolean;
	/** Reason why the set cannot be saved. */
	readonly problem: string | null;
	readonly onSaved: () => void;
}

/** Buttons to delete a set, or to save it in the draft or immediately. */
export function SetActions({ setKey, stored, value, problem, ...props }: SetActionsProps) {
	return (
		<SaveActions
			{...props}
			kind="condition_set"
			noun="set"
			objectKey={setKey}
			value={value}
			isStored={stored !== null}
			problem={missingText(setKey, value) ?? problem}
			list="condition-sets"
			page={`condition-sets/${setKey}`}
			main="draft"
			deletion={`Delete condition set ${setKey}? This takes effect immediately${value.type === 'grant' ? '' : ' and also deletes the rules that use it'}.`}
			save={() => save(setKey, stored, value)}
			remove={() => remove(setKey)}
		>
			A draft collects changes. <a href={screenPath('draft')}>Draft and impact</a> shows who would gain or lose access
			before you publish it.
		</SaveActions>
	);
}

function missingText(key: string, { name, type, resource }: ConditionSetValue): string | null {
	if (key === '') return 'Enter a key.';
	if (name === '') return 'Enter a name.';
	return type === 'resourceset' && resource === null ? 'Choose a resource.' : null;
}

async function remove(key: string): Promise<void> {
	await management.delete('/v2/schema/{proj_id}/{env_id}/condition_sets/{condition_set_id}', {
		path: { condition_set_id: key },
	});
}

async function save(key: string, stored: ConditionSetValue | null, value: ConditionSetValue): Promise<void> {
	const { name, description, type, resource, parent, parameters } = value;
	const conditions = value.conditions as Record<string, unknown>;
	if (stored === null) {
		await management.post('/v2/schema/{proj_id}/{env_id}/condition_sets', {
			body: {
				key,
				name,
				type,
				conditions,
				...(description === null ? {} : { description }),
				...(resource === null ? {} : { resource_id: resource }),
				...(parent === null ? {} : { parent_id: parent }),
				...(parameters === undefined ? {} : { parameters }),
			},
		});
		return;
	}
	await management.patch('/v2/schema/{proj_id}/{env_id}/condition_sets/{condition_set_id}', {
		path: { condition_set_id: key },
		body: { name, description, conditions, parent_id: parent, ...(parameters !== undefined && { parameters }) },
	});
}
