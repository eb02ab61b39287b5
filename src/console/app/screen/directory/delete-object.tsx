import { useLocation } from 'preact-iso';
import { type DirectoryTab, directoryPath } from '../../../model/directory-path.js';
import { Failure, useWork } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { Section } from '../../../part/section.js';
import { confirmWrite } from '../../part/confirm.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';

interface DeleteObjectProps {
	readonly tab: DirectoryTab;
	readonly title: string;
	/** Confirmation text, which lists the cascaded deletions. */
	readonly text: string;
	readonly remove: () => Promise<unknown>;
}

/** Section with a button that deletes an object after confirmation, and then opens the list. */
export function DeleteObject({ tab, title, text, remove }: DeleteObjectProps) {
	const { route } = useLocation();
	const work = useWork();
	const act = async () => {
		if (!(await confirmWrite(title, text, { always: true }))) return;
		await remove();
		announce('Deleted.');
		route(screenPath(directoryPath(tab)));
	};
	if (!mayWrite.value) return null;
	return (
		<Section id="delete" title="Delete">
			<Button class="danger" aria-disabled={work.busy} onClick={() => void work.run(act)}>
				{title}
			</Button>
			<Failure text={work.failure} />
		</Section>
	);
}
