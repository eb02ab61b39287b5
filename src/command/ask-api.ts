import type { z } from 'zod';
import { ConfigError } from '../config.js';

/** An API, by its URL without a path, and the key to ask it with. */
export interface ApiAccess {
	readonly api: string;
	readonly key: string;
}

/** Sends a GET request to an API. Throws `ConfigError` if it cannot be reached, or answers anything but success. */
export async function askApi({ api, key }: ApiAccess, path: string): Promise<Response> {
	const headers = { authorization: `Bearer ${key}` };
	const response = await fetch(api + path, { headers }).catch((error: unknown) => {
		throw new ConfigError(`the API at ${api} cannot be reached`, { cause: error });
	});
	if (response.ok) return response;
	throw new ConfigError(`the API at ${api} answered ${response.status} on ${path}: ${await response.text()}`);
}

/** Gets JSON of this shape from an API. Throws `ConfigError` if that fails. */
export async function askApiFor<S extends z.ZodType>(access: ApiAccess, path: string, shape: S): Promise<z.output<S>> {
	const response = await askApi(access, path);
	const parsed = shape.safeParse(await response.json().catch(() => null));
	if (parsed.success) return parsed.data;
	const cause = parsed.error;
	throw new ConfigError(`the API at ${access.api} did not answer as version 2 does on ${path}`, { cause });
}
