import { ConfigError } from '../config.js';
import { ApiKeyScopeRead } from '../wire/general/api-key.js';
import { type ApiKey, askFor, type Server } from './server.js';

/** Environment variables, keyed by name. An empty variable is treated as unset. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Options with the same name in every command. */
export interface SharedOptions {
	readonly project?: string;
	readonly environment?: string;
	readonly tenant?: string;
	readonly api?: string;
	/** Decision point URL. */
	readonly pdp?: string;
	readonly json?: true;
}

/** Environment and its project, each as a key or id. */
export interface Place {
	readonly project: string;
	readonly environment: string;
}

/** Servers, API keys and environment for a command. Each is looked up on first use. */
export class Session {
	constructor(
		readonly variables: Variables,
		private readonly options: SharedOptions,
	) {}

	/** Management API. Throws `ConfigError` if there is no API key, or if its URL is invalid. */
	get api(): Server {
		const { PERMIT_API_URL, PDP_CONTROL_PLANE, API_PORT } = this.variables;
		const chosen =
			chosenUrl([
				['--api', this.options.api],
				['PERMIT_API_URL', PERMIT_API_URL],
				['PDP_CONTROL_PLANE', PDP_CONTROL_PLANE],
			]) ?? localUrl(['API_PORT', API_PORT], { port: '8000', source: 'PERMIT_API_URL' });
		return { ...chosen, key: this.#key(['PERMIT_API_KEY', 'PDP_API_KEY']) };
	}

	/** Decision point. Throws `ConfigError` if there is no API key, or if its URL is invalid. */
	get decisionPoint(): Server {
		const { PERMIT_PDP_URL, PDP_PORT } = this.variables;
		const chosen =
			chosenUrl([
				['--pdp', this.options.pdp],
				['PERMIT_PDP_URL', PERMIT_PDP_URL],
			]) ?? localUrl(['PDP_PORT', PDP_PORT], { port: '7766', source: 'PERMIT_PDP_URL' });
		return { ...chosen, key: this.#key(['PDP_API_KEY', 'PERMIT_API_KEY']) };
	}

	/**
	 * Returns the environment in the options, or the only environment that the API key can access. Throws
	 * `ConfigError`.
	 */
	async place(): Promise<Place> {
		const { project, environment } = this.options;
		if (project !== undefined && environment !== undefined) return { project, environment };
		const { api } = this;
		const { project_id, environment_id } = (await askFor(api, '/v2/api-key/scope', ApiKeyScopeRead)).body;
		const place = { project: project ?? project_id, environment: environment ?? environment_id };
		if (place.project !== null && place.environment !== null) {
			return { project: place.project, environment: place.environment };
		}
		const missing = place.project === null ? '--project and --environment' : '--environment';
		throw new ConfigError(
			`The key in ${api.key.variable} has access to several environments. Choose one with ${missing}.`,
		);
	}

	#key(names: readonly string[]): ApiKey {
		const variable = names.find((name) => (this.variables[name] ?? '') !== '') ?? '';
		const secret = this.variables[variable];
		if (secret === undefined)
			throw new ConfigError('PERMIT_API_KEY is not set. Set it to an API key with access to the environment');
		// A secret may contain only these header characters. The error omits the value because it may be part of a
		// secret.
		if (!/^[\x21-\x7e]+$/.test(secret)) {
			throw new ConfigError(`${variable}: not a valid API key. It contains spaces or other invalid characters`);
		}
		return { secret, variable };
	}
}

/** Option or environment variable, by name. It is unset if it has no value or an empty value. */
type Setting = readonly [name: string, value: string | undefined];

/** A URL, and the setting that contains it. */
type ChosenUrl = Pick<Server, 'url' | 'source'>;

/**
 * Returns the first URL in the settings, without a trailing slash; `null` if no setting has a value. Throws
 * `ConfigError` if the URL is invalid.
 */
function chosenUrl(settings: readonly Setting[]): ChosenUrl | null {
	const [source, url = ''] = settings.find(([, value]) => (value ?? '') !== '') ?? [];
	if (source === undefined) return null;
	const parsed = URL.canParse(url) ? new URL(url) : null;
	if (parsed === null || !/^https?:$/.test(parsed.protocol) || /[?#]/.test(url) || parsed.username !== '') {
		throw new ConfigError(`${source}: must be an http or https URL without user name, query or fragment`);
	}
	return { url: url.replace(/\/+$/, ''), source };
}

/** Returns the URL of a port on this machine. Throws `ConfigError` if the port is invalid. */
function localUrl([name, port = '']: Setting, usual: { readonly port: string; readonly source: string }): ChosenUrl {
	// With port 0 a server uses any free port, so 0 does not determine its URL.
	if (port === '' || port === '0') return { url: `http://127.0.0.1:${usual.port}`, source: usual.source };
	if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new ConfigError(`${name}: must be a port number`);
	return { url: `http://127.0.0.1:${port}`, source: name };
}
