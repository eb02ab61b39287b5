import { Failure, useWork } from '../../../part/action-button.js';
import { Button } from '../../../part/button.js';
import { Section } from '../../../part/section.js';
import { management } from '../../api.js';
import { confirmByKey } from '../../part/confirm.js';
import { KeyText } from '../../part/key-text.js';
import { openSession, sessionState } from '../../session.js';

/** Deletes the open project after a confirmation, and ends the session. */
export function DeleteProject() {
	const { project } = openSession();
	const work = useWork();
	const remove = async () => {
		const text = `Delete project \`${project.key}\` with all its environments, policies and users? Its decision points will deny all checks. This cannot be undone.`;
		const header = await confirmByKey('Delete project', text, project.key);
		if (header === null) return;
		await management.delete('/v2/projects/{proj_id}', { header });
		// Another request may already have ended the session with a less specific reason.
		sessionState.value = { state: 'closed', reason: `The project ${project.key} was deleted.` };
	};
	return (
		<Section id="delete-project" title="Delete project">
			<p class="quiet about">
				Deletes <KeyText text={project.key} /> with all of its environments. Decision points deny all checks of a
				deleted environment.
			</p>
			<Button class="danger" aria-disabled={work.busy} onClick={() => void work.run(remove)}>
				Delete project
			</Button>
			<Failure text={work.failure} />
		</Section>
	);
}
