import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findForbiddenImports } from './imports.mjs';

const found = findForbiddenImports(dirname(dirname(fileURLToPath(import.meta.url))));
for (const line of found) console.error(line);
process.exitCode = found.length === 0 ? 0 : 1;
