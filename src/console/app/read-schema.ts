import { readSchemaObjects, type SchemaObjects } from '../model/matrix/schema-objects.js';
import { answered, managementClient } from './api.js';
import { environmentPath } from './session.js';

/** The environment's schema at a revision. */
export interface ReadSchema {
	readonly objects: SchemaObjects;
	readonly revision: number;
}

/** Reads the environment's schema. Throws `ApiFailure`. */
export async function readSchema(signal: AbortSignal): Promise<ReadSchema> {
	const { schema, revision } = await readSchemaDocument(signal);
	return { objects: readSchemaObjects(schema), revision };
}

/** Reads the schema half of the environment document, with its revision. Throws `ApiFailure`. */
export async function readSchemaDocument(signal: AbortSignal) {
	const call = managementClient.GET('/v2/projects/{proj_id}/envs/{env_id}/export', {
		params: { path: environmentPath(), query: { half: 'schema' } },
		signal,
	});
	const { schema } = await answered(call);
	return { schema, revision: Number((await call).response.headers.get('x-revision') ?? 0) };
}
