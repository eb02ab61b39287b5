import { type ElementValue, newElement, readElementValue } from '../../../model/element/element-value.js';
import { subjectName } from '../../../model/matrix/schema-objects.js';
import { ObjectPage } from '../../part/object-page.js';
import { type ReadSchema, readSchema } from '../../read-schema.js';
import { useLoaded } from '../../use-loaded.js';
import { ElementEditor } from './element-editor.js';
import { ElementOperation } from './element-operation.js';

const kind = 'elements_config';

/**
 * Element page: the editor, a preview as a user, and the webhook. If the key is `null`, the page creates an element.
 */
export function ElementDetail({ elementKey }: { readonly elementKey: string | null }) {
	const loaded = useLoaded(readSchema, []);
	return (
		<ObjectPage
			kind={kind}
			noun="element"
			objectKey={elementKey}
			list="elements"
			loaded={loaded}
			readStored={readStored}
			readDrafted={readElementValue}
		>
			{({ schema, stored, current }) => (
				<>
					<ElementEditor
						elementKey={elementKey}
						stored={stored}
						base={current ?? newElement}
						schema={schema}
						reload={loaded.reload}
					/>
					{elementKey !== null && stored !== null && <ElementOperation elementKey={elementKey} />}
				</>
			)}
		</ObjectPage>
	);
}

function readStored({ objects }: ReadSchema, key: string): ElementValue | null {
	const found = objects.get(subjectName({ kind, key, value: undefined }));
	return found === undefined ? null : readElementValue(found.value);
}
