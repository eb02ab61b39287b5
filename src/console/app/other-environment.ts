import { ApiFailure, failureMessage } from '../model/api-failure.js';
import { openEnvironment, openSession } from './session.js';

/**
 * The schema half of the document of an environment that the key of this session opens. A session is for one
 * environment, so reading another one takes a session of that. Throws `ApiFailure`.
 */
export async function readSchemaOfEnvironment(project: string, environment: string): Promise<unknown> {
	const here = openSession();
	const isHere = here.project.key === project && here.environment.key === environment;
	const { id } = isHere ? here.environment : (await openEnvironment(project, environment)).environment;
	const path = `/v2/projects/${[project, environment].map(encodeURIComponent).join('/envs/')}/export?half=schema`;
	const headers = { accept: 'application/json', 'x-console-environment': id };
	const answer = await fetch(path, { headers, cache: 'no-store' });
	const said: unknown = await answer.json().catch(() => undefined);
	if (!answer.ok) throw new ApiFailure(answer.status, failureMessage(answer.status, said), said);
	return (said as { readonly schema?: unknown }).schema ?? {};
}
