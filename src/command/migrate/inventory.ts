import type { z } from 'zod';
import { ApiKeyRead, ApiKeyScopeRead } from '../../wire/general/api-key.js';
import { EnvironmentRead } from '../../wire/general/environment.js';
import { ProjectRead } from '../../wire/general/project.js';
import { EnvironmentStats } from '../../wire/general/statistics.js';
import { askFor, askForAll, path, type Server } from '../server.js';

/** Environment with its object counts. */
export type FoundEnvironment = z.output<typeof EnvironmentStats>;

/** Projects and environments that an API key can access. */
export interface Inventory {
	/**
	 * True if the key can access the whole organization. If false, the organization may have more projects than the
	 * list shows.
	 */
	readonly whole: boolean;
	/** Id of the only environment that the key can access; `null` if the key can access several environments. */
	readonly only: string | null;
	readonly projects: readonly {
		readonly key: string;
		readonly name: string;
		readonly environments: readonly FoundEnvironment[];
	}[];
}

/**
 * API client for `regolith migrate check`, which uses a single key. Every call throws `ConfigError` if the response is
 * missing or invalid.
 */
export class Site {
	constructor(private readonly api: Server) {}

	/** Lists every project and environment that the key can access. */
	async inventory(): Promise<Inventory> {
		const scope = await this.#get('/v2/api-key/scope', ApiKeyScopeRead);
		const projects = [];
		for (const { id, key, name } of await askForAll(this.api, '/v2/projects', ProjectRead)) {
			const environments = [];
			for (const environment of await askForAll(this.api, path`/v2/projects/${id}/envs`, EnvironmentRead)) {
				environments.push(await this.#get(path`/v2/projects/${id}/envs/${environment.id}/stats`, EnvironmentStats));
			}
			projects.push({ key, name, environments });
		}
		return { whole: scope.project_id === null, only: scope.environment_id, projects };
	}

	/**
	 * Returns the API key for an environment's decision points. If this client's own key can access only this
	 * environment, returns that key.
	 */
	async findKey({ id, project_id }: FoundEnvironment, { only }: Inventory): Promise<string> {
		if (only === id) return this.api.key.secret;
		return (await this.#get(path`/v2/api-key/${project_id}/${id}`, ApiKeyRead)).secret ?? '';
	}

	async #get<S extends z.ZodType>(path: string, shape: S): Promise<z.output<S>> {
		return (await askFor(this.api, path, shape)).body;
	}
}
