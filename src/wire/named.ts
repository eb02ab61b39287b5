import { z } from 'zod';

/** An object schema with its name and description in the OpenAPI document. */
export function named<S extends z.ZodRawShape>(id: string, description: string, shape: S) {
	return z.object(shape).meta({ id, description });
}

/** Like `named`; unknown members are refused. */
export function namedStrict<S extends z.ZodRawShape>(id: string, description: string, shape: S) {
	return z.strictObject(shape).meta({ id, description });
}
