import { currentDraft } from '../current-draft.js';
import { screenPath } from '../screen-path.js';
import { KeyLink } from './key-link.js';

interface DraftedObjectsProps {
	readonly kind: string;
	/** Screen with a page for each object. */
	readonly screen: string;
}

const operations = { create: 'new', update: 'changed', delete: 'deleted' } as const;

/** Links to the objects that the draft changes. */
export function DraftedObjects({ kind, screen }: DraftedObjectsProps) {
	const changes = (currentDraft.value?.changes ?? []).filter((change) => change.kind === kind);
	if (changes.length === 0) return null;
	return (
		<p class="notice">
			In the draft:{' '}
			{changes.map(({ key = '', operation }, index) => (
				<span key={key}>
					{index > 0 && ', '}
					<KeyLink href={screenPath(`${screen}/${key}`)} text={key} /> ({operations[operation]})
				</span>
			))}
		</p>
	);
}
