import { ConfigError } from './config.js';
import { PolicyRead } from './wire/policy.js';

/** An environment's policy for people: a few lines about it, and its files. */
export interface Inspected {
	readonly summary: string;
	readonly files: PolicyRead['files'];
}

/** Asks an API for an environment's policy. Throws `ConfigError` when it cannot be had. */
export async function inspect(
	api: string,
	apiKey: string | null,
	project: string,
	environment: string,
): Promise<Inspected> {
	if (apiKey === null) throw new ConfigError('PDP_API_KEY: set it to an API key that opens the environment');
	const url = `${api}/v2/projects/${encodeURIComponent(project)}/${encodeURIComponent(environment)}/policy`;
	const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } }).catch((error: unknown) => {
		throw new ConfigError(`the API at ${api} cannot be reached`, { cause: error });
	});
	if (!response.ok) throw new ConfigError(`the API at ${api} answered ${response.status}: ${await response.text()}`);
	const policy = PolicyRead.parse(await response.json());
	const lines = [
		`# ${project}/${environment} at revision ${policy.revision}`,
		`# policy ${policy.hash ?? 'none yet'}, compiled at revision ${policy.compiled_revision ?? '-'}`,
		...(policy.failure ? [`# FAILED at revision ${policy.failure.revision}: ${policy.failure.message}`] : []),
	];
	return { summary: `${lines.join('\n')}\n`, files: policy.files };
}
