import { type Config, ConfigError } from '../config.js';
import type { PolicyPlace } from './policy-source.js';

/** The environment that a command asks about, with the API key in PDP_API_KEY. */
export function policyPlace(config: Config, { project, environment, api }: Asked): PolicyPlace {
	const key = config.pdp_api_key;
	if (key === null) throw new ConfigError('PDP_API_KEY: set it to an API key that opens the environment');
	return { api: apiUrl(config, { ...(api !== undefined && { api }) }), key, project, environment };
}

/** The API that a command asks. */
export function apiUrl(config: Config, { api }: { readonly api?: string }): string {
	return (api ?? config.pdp_control_plane ?? `http://127.0.0.1:${config.api_port}`).replace(/\/+$/, '');
}

/** What a command is told of the environment it asks about. */
interface Asked {
	readonly project: string;
	readonly environment: string;
	readonly api?: string;
}
