import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../compiler/opa/package-root.js';

export const version = readVersion(join(packageRoot, 'package.json'));

function readVersion(path: string): string {
	const { version: found } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string };
	return found;
}
