import { type ConditionSetValue, readConditionSetValue } from '../../../model/condition/condition-set-value.js';
import { ObjectPage } from '../../part/object-page.js';
import { useLoaded } from '../../use-loaded.js';
import { readSchema, type SetSchema } from './read-schema.js';
import { SetEditor } from './set-editor.js';

const newSet = { name: '', description: null, type: 'userset', conditions: {}, resource: null, parent: null } as const;

/** Page of a condition set. If the key is `null`, the page creates a new set. */
export function ConditionSetPage({ setKey }: { readonly setKey: string | null }) {
	const loaded = useLoaded(readSchema, []);
	return (
		<ObjectPage
			kind="condition_set"
			noun="condition set"
			objectKey={setKey}
			list="condition-sets"
			loaded={loaded}
			readStored={readStored}
			readDrafted={readConditionSetValue}
			missing="Sets created automatically for a role or a resource have no page."
		>
			{({ schema, stored, current }) => (
				<SetEditor setKey={setKey} stored={stored} base={current ?? newSet} schema={schema} reload={loaded.reload} />
			)}
		</ObjectPage>
	);
}

function readStored({ sets }: SetSchema, key: string): ConditionSetValue | null {
	return sets[key] ?? null;
}
