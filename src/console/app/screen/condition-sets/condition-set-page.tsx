import { readConditionSetValue } from '../../../model/condition/condition-set-value.js';
import { currentDraft } from '../../current-draft.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Screen } from '../../part/screen.js';
import { screenPath } from '../../screen-path.js';
import { useLoaded } from '../../use-loaded.js';
import { readSchema } from './read-schema.js';
import { SetEditor } from './set-editor.js';

const newSet = { name: '', description: null, type: 'userset', conditions: {}, resource: null, parent: null } as const;

/** Page of a condition set. If the key is `null`, the page creates a new set. */
export function ConditionSetPage({ setKey }: { readonly setKey: string | null }) {
	const loaded = useLoaded(readSchema, []);
	const drafted = currentDraft.value?.changes.find(({ kind, key }) => kind === 'condition_set' && key === setKey);
	return (
		<Screen title={setKey === null ? 'New condition set' : `Condition set ${setKey}`}>
			<p>
				<a href={screenPath('condition-sets')}>All condition sets</a>
			</p>
			<LoadedFrame loaded={loaded}>
				{(schema) => {
					const stored = setKey === null ? null : (schema.sets[setKey] ?? null);
					const inDraft = drafted?.value === undefined ? null : readConditionSetValue(drafted.value);
					if (setKey !== null && stored === null && inDraft === null) {
						return (
							<Empty title="Condition set not found">
								<p>It may have been deleted. Sets created automatically for a role or a resource have no page.</p>
							</Empty>
						);
					}
					return (
						<SetEditor
							setKey={setKey}
							stored={stored}
							base={inDraft ?? stored ?? newSet}
							drafted={drafted?.operation ?? null}
							schema={schema}
							reload={loaded.reload}
						/>
					);
				}}
			</LoadedFrame>
		</Screen>
	);
}
