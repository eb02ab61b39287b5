import { ConfigError } from '../config.js';
import { PolicyRead } from '../wire/policy.js';
import { askApiFor } from './ask-api.js';

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
	const path = `/v2/projects/${encodeURIComponent(project)}/${encodeURIComponent(environment)}/policy`;
	const policy = await askApiFor({ api, key: apiKey }, path, PolicyRead);
	const lines = [
		`# ${project}/${environment} at revision ${policy.revision}`,
		`# policy ${policy.hash ?? 'none yet'}, compiled at revision ${policy.compiled_revision ?? '-'}`,
		...(policy.failure ? [`# FAILED at revision ${policy.failure.revision}: ${policy.failure.message}`] : []),
	];
	return { summary: `${lines.join('\n')}\n`, files: policy.files };
}
