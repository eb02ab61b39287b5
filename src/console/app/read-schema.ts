import { ApiFailure, failureMessage } from '../model/api-failure.js';
import { readSchemaObjects, type SchemaObjects } from '../model/matrix/schema-objects.js';
import { management } from './api.js';
import { environmentPath } from './session.js';

/** The environment's schema at a revision. */
export interface ReadSchema {
	readonly objects: SchemaObjects;
	readonly revision: number;
}

/** Reads the environment's schema. Throws `ApiFailure`. */
export async function readSchema(signal: AbortSignal): Promise<ReadSchema> {
	const { data, error, response } = await management.GET('/v2/projects/{proj_id}/envs/{env_id}/export', {
		params: { path: environmentPath(), query: { half: 'schema' } },
		signal,
	});
	if (data === undefined) throw new ApiFailure(response.status, failureMessage(response.status, error), error);
	return { objects: readSchemaObjects(data.schema), revision: Number(response.headers.get('x-revision') ?? 0) };
}
