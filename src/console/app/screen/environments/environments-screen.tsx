import { KeyText } from '../../part/key-text.js';
import { Screen } from '../../part/screen.js';
import { mayWrite, openSession } from '../../session.js';
import { CompareEnvironments } from './compare-environments.js';
import { DeleteProject } from './delete-project.js';
import { EnvironmentSettings } from './environment-settings.js';
import { ImportDocument } from './import-document.js';
import { PromoteSchema } from './promote-schema.js';

/** The environments screen: environments, copies between them, and documents. */
export function EnvironmentsScreen() {
	const { project, environment, key } = openSession();
	return (
		<Screen
			title="Environments"
			about={
				<>
					Compare <KeyText text={environment.key} /> with other environments of <KeyText text={project.key} />, promote
					its schema, or export and import it.
				</>
			}
		>
			<CompareEnvironments />
			{key.object_type !== 'env' && <PromoteSchema />}
			<ImportDocument />
			<EnvironmentSettings />
			{key.object_type !== 'env' && mayWrite.value && <DeleteProject />}
		</Screen>
	);
}
