import { partKinds, partName, partResource, readPartName } from '../../../model/schema/schema-part.js';
import { useSearch } from '../../use-search.js';
import type { ModelView } from './model-view.js';
import { PartDialog } from './part-dialog.js';
import { RemovalDialog } from './removal-dialog.js';

interface PartDialogsProps {
	readonly view: ModelView;
	/** Open resource; `null` on the other pages. */
	readonly resource: string | null;
}

/** The dialog in the URL: `add=<kind>`, `edit=<kind>:<key>` or `remove=<kind>:<key>`. */
export function PartDialogs({ view, resource }: PartDialogsProps) {
	const search = useSearch();
	const close = () => search.set({ add: '', edit: '', remove: '' });
	const kind = partKinds.find((one) => one === search.get('add'));
	const isOfResource = kind !== undefined && partResource({ kind, key: '' }) !== null;
	if (kind !== undefined && (kind === 'resource' || isOfResource === (resource !== null))) {
		return <PartDialog key={kind} view={view} kind={kind} resource={resource} part={null} onClose={close} />;
	}
	const edited = findPart(view, search.get('edit'));
	if (edited !== undefined) {
		const owner = partResource(edited);
		return (
			<PartDialog
				key={partName(edited)}
				view={view}
				kind={edited.kind}
				resource={owner}
				part={edited}
				onClose={close}
			/>
		);
	}
	const removed = findPart(view, search.get('remove'));
	return removed === undefined ? null : <RemovalDialog view={view} part={removed} onClose={close} />;
}

function findPart({ parts }: ModelView, text: string) {
	const name = readPartName(text);
	return name === null ? undefined : parts.get(partName(name));
}
