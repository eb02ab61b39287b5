import { newElement, readElementValue } from '../../../model/element/element-value.js';
import { subjectName } from '../../../model/matrix/schema-objects.js';
import { currentDraft } from '../../current-draft.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Screen } from '../../part/screen.js';
import { readSchema } from '../../read-schema.js';
import { screenPath } from '../../screen-path.js';
import { useLoaded } from '../../use-loaded.js';
import { ElementEditor } from './element-editor.js';
import { ElementOperation } from './element-operation.js';

/** Page of an element: the editor, a preview as a user, and the webhook. If the key is `null`, it creates an element. */
export function ElementDetail({ elementKey }: { readonly elementKey: string | null }) {
	const loaded = useLoaded(readSchema, []);
	const drafted = currentDraft.value?.changes.find(({ kind, key }) => kind === 'elements_config' && key === elementKey);
	return (
		<Screen title={elementKey === null ? 'New element' : `Element ${elementKey}`}>
			<p>
				<a href={screenPath('elements')}>All elements</a>
			</p>
			<LoadedFrame loaded={loaded}>
				{(schema) => {
					const name = subjectName({ kind: 'elements_config', key: elementKey ?? '', value: undefined });
					const found = schema.objects.get(name);
					const stored = found === undefined ? null : readElementValue(found.value);
					const inDraft = drafted?.value === undefined ? null : readElementValue(drafted.value);
					if (elementKey !== null && stored === null && inDraft === null) {
						return (
							<Empty title="Element not found">
								<p>It may have been deleted.</p>
							</Empty>
						);
					}
					return (
						<>
							<ElementEditor
								elementKey={elementKey}
								stored={stored}
								base={inDraft ?? stored ?? newElement}
								drafted={drafted?.operation ?? null}
								schema={schema}
								reload={loaded.reload}
							/>
							{elementKey !== null && stored !== null && <ElementOperation elementKey={elementKey} />}
						</>
					);
				}}
			</LoadedFrame>
		</Screen>
	);
}
