import { z } from 'zod';
import { clearable, environmentObject, Key, Name, optional, Text } from './common.js';

/** Schema for an object, with its name and description in the OpenAPI document. */
export function named<S extends z.ZodRawShape>(id: string, description: string, shape: S) {
	return z.object(shape).meta({ id, description });
}

/** Like `named`, but rejects unknown fields. */
export function namedStrict<S extends z.ZodRawShape>(id: string, description: string, shape: S) {
	return z.strictObject(shape).meta({ id, description });
}

/** Fields of environment objects that have a name. The key is unique among `others`. */
export function namedObject(others: string) {
	return {
		...environmentObject,
		key: z.string().describe(`Key, unique among the ${others}.`),
		name: z.string().describe('Display name.'),
	};
}

/** Fields of create requests. `kind` is the kind of object, and its key is unique among `others`. */
export function describedFields(kind: string, others: string) {
	return {
		key: Key.describe(`Key, unique among the ${others}.`),
		name: Name.describe('Display name.'),
		description: optional(Text).describe(`${kind} description. Null counts as absent.`),
	};
}

/** Fields of update requests. `kind` is the kind of object. */
export function changedFields(kind: string) {
	return {
		name: optional(Name).describe('New name. Null counts as absent.'),
		description: clearable(Text).describe(`${kind} description; null clears it.`),
	};
}
