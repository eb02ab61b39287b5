import { ConfigError } from '../../config.js';
import { EnvironmentRead } from '../../wire/general/environment.js';
import { ProjectRead } from '../../wire/general/project.js';
import type { Told } from '../declaration.js';
import { askForAll, path, type Server } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { table, visible } from '../terminal.js';

const Project = ProjectRead.pick({ id: true, key: true });
const Environment = EnvironmentRead.pick({ id: true, key: true, name: true });

/** Lists the environments that the API key can access. */
export async function environments({ api }: Session, { project }: SharedOptions): Promise<Told> {
	const found = await openEnvironments(api, project);
	const rows = found.map(({ project, environment, name, id }) => [project, environment, name, id]);
	return {
		text: rows.length === 0 ? 'no environments\n' : table(['PROJECT', 'ENVIRONMENT', 'NAME', 'ID'], rows),
		json: { environments: found },
	};
}

/** Environment with its keys and id. */
interface OpenEnvironment {
	readonly project: string;
	readonly environment: string;
	readonly name: string;
	readonly id: string;
}

/**
 * Reads the environments that the API key can access, in all projects or in one project (a key or id). Throws
 * `ConfigError` if the project does not exist.
 */
export async function openEnvironments(api: Server, wanted: string | undefined): Promise<readonly OpenEnvironment[]> {
	const projects = (await askForAll(api, '/v2/projects', Project)).filter(
		({ key, id }) => wanted === undefined || [key, id].includes(wanted),
	);
	if (wanted !== undefined && projects.length === 0) {
		throw new ConfigError(
			`--project: project \`${visible(wanted)}\` does not exist, or the key in ${api.key.variable} has no access to it`,
		);
	}
	const found: OpenEnvironment[] = [];
	for (const project of projects) {
		for (const { id, key, name } of await askForAll(api, path`/v2/projects/${project.id}/envs`, Environment)) {
			found.push({ project: project.key, environment: key, name, id });
		}
	}
	return found;
}
