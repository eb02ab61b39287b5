import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package's folder, the same for the source and for what is built from it. */
export const packageRoot = rootOf(dirname(fileURLToPath(import.meta.url)));

/** The version of Regolith. */
export const version = versionOf(join(packageRoot, 'package.json'));

function rootOf(folder: string): string {
	return folder.endsWith(join('dist', 'src')) ? dirname(dirname(folder)) : dirname(folder);
}

function versionOf(path: string): string {
	const { version: found } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string };
	return found;
}
