import { EnvironmentRead } from '../wire/general/environment.js';
import { ProjectRead } from '../wire/general/project.js';
import { askFor, path, type Server } from './server.js';
import type { Place } from './session.js';

const Project = ProjectRead.pick({ key: true });
const Environment = EnvironmentRead.pick({ key: true });

/**
 * Returns an environment's name: `project/environment`, with both keys. Throws `ConfigError` if the API does not
 * respond.
 */
export async function placeName(api: Server, { project, environment }: Place): Promise<string> {
	const [one, other] = await Promise.all([
		askFor(api, path`/v2/projects/${project}`, Project),
		askFor(api, path`/v2/projects/${project}/envs/${environment}`, Environment),
	]);
	return `${one.body.key}/${other.body.key}`;
}
