import type { z } from 'zod';
import { ApiKeyRead, ApiKeyScopeRead } from '../../wire/general/api-key.js';
import { EnvironmentRead } from '../../wire/general/environment.js';
import { ProjectRead } from '../../wire/general/project.js';
import { EnvironmentStats } from '../../wire/general/statistics.js';
import { askFor, askForAll, path, type Server } from '../server.js';

/** An environment and how much it holds. */
export type FoundEnvironment = z.output<typeof EnvironmentStats>;

/** What an API key opens: the projects, each with its environments. */
export interface Inventory {
	/** Whether the key opens the whole organization; if not, there may be more than is listed. */
	readonly whole: boolean;
	/** The id of the only environment that the key opens; `null` when it opens more. */
	readonly only: string | null;
	readonly projects: readonly {
		readonly key: string;
		readonly name: string;
		readonly environments: readonly FoundEnvironment[];
	}[];
}

/** An API as `regolith migrate check` uses it, with one key. Every call throws `ConfigError` when it is not answered. */
export class Site {
	constructor(private readonly api: Server) {}

	/** Lists all that the key opens. */
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

	/** The API key of an environment's decision points: the one of this site, if that opens nothing else. */
	async findKey({ id, project_id }: FoundEnvironment, { only }: Inventory): Promise<string> {
		if (only === id) return this.api.key.secret;
		return (await this.#get(path`/v2/api-key/${project_id}/${id}`, ApiKeyRead)).secret ?? '';
	}

	async #get<S extends z.ZodType>(path: string, shape: S): Promise<z.output<S>> {
		return (await askFor(this.api, path, shape)).body;
	}
}
