import { environmentHeader, management } from './api.js';
import { openEnvironment, openSession } from './session.js';

/**
 * Reads the schema half of an environment's document. A session belongs to a single environment, so a different
 * environment needs its own session. Throws `ApiFailure`.
 */
export async function readSchemaOfEnvironment(
	project: string,
	environment: string,
	signal: AbortSignal,
): Promise<unknown> {
	const here = openSession();
	const isHere = here.project.key === project && here.environment.key === environment;
	const { id } = isHere ? here.environment : (await openEnvironment(project, environment)).environment;
	const headers = isHere ? {} : { [environmentHeader]: id };
	const document = await management.get('/v2/projects/{proj_id}/envs/{env_id}/export', {
		path: { proj_id: project, env_id: environment },
		query: { half: 'schema' },
		headers,
		signal,
	});
	return document.schema ?? {};
}
