import { EnvironmentRead } from '../../wire/environment.js';
import { ProjectRead } from '../../wire/project.js';
import type { Told } from '../declaration.js';
import { askForAll, path } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { table } from '../terminal.js';

const Project = ProjectRead.pick({ id: true, key: true });
const Environment = EnvironmentRead.pick({ id: true, key: true, name: true });

/** Lists the environments that the API key opens. */
export async function environments({ api }: Session, options: SharedOptions): Promise<Told> {
	const projects = await askForAll(api, '/v2/projects', Project);
	const found = [];
	for (const project of projects) {
		if (options.project !== undefined && ![project.key, project.id].includes(options.project)) continue;
		for (const { id, key, name } of await askForAll(api, path`/v2/projects/${project.id}/envs`, Environment)) {
			found.push({ project: project.key, environment: key, name, id });
		}
	}
	const rows = found.map(({ project, environment, name, id }) => [project, environment, name, id]);
	return {
		text: rows.length === 0 ? 'there is no environment\n' : table(['PROJECT', 'ENVIRONMENT', 'NAME', 'ID'], rows),
		json: { environments: found },
	};
}
