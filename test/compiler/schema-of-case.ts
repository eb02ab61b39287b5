import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Model, Schema } from '../../compiler/model.js';
import { packageRoot } from './engine.js';

/** Reads the schema of a folder in test/case. */
export async function schemaOfCase(name: string): Promise<Schema> {
	const model: Model = JSON.parse(await readFile(join(packageRoot, 'test/case', name, 'model.json'), 'utf8'));
	return model.schema;
}
