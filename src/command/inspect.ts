import { PolicyRead } from '../wire/general/policy.js';
import type { Told } from './declaration.js';
import { writeBelow } from './policy/policy-folder.js';
import { policyPlace } from './policy/policy-source.js';
import { askFor, path } from './server.js';
import type { Session, SharedOptions } from './session.js';

export interface InspectOptions extends SharedOptions {
	/** Folder to write the files to. */
	readonly output?: string;
}

/** Shows an environment's policy: a short summary and its files. */
export async function inspect(session: Session, { output }: InspectOptions): Promise<Told> {
	const { api, name, project, environment } = await policyPlace(session);
	const policy = (await askFor(api, path`/v2/projects/${project}/${environment}/policy`, PolicyRead)).body;
	const { revision, hash, compiled_revision, failure, files } = policy;
	if (output !== undefined) writeBelow(output, files);
	const lines = [
		`# ${name} at revision ${revision}`,
		`# Rego hash ${hash ?? 'not compiled yet'}, compiled at revision ${compiled_revision ?? '-'}`,
		...(failure ? [`# FAILED at revision ${failure.revision}: ${failure.message}`] : []),
	];
	const shown = output === undefined ? files.map((file) => `\n# file: ${file.path}\n${file.text}`) : [];
	return {
		text: `${lines.join('\n')}\n${shown.join('')}`,
		document: true,
		json: { environment: name, revision, hash, compiled_revision, failure, files },
	};
}
