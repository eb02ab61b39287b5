import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The nearest parent folder with a `package.json`: the same for source and build output. */
export const packageRoot = rootAbove(dirname(fileURLToPath(import.meta.url)));

function rootAbove(folder: string): string {
	return existsSync(join(folder, 'package.json')) || dirname(folder) === folder ? folder : rootAbove(dirname(folder));
}
