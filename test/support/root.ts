import { fileURLToPath } from 'node:url';

/**
 * Absolute path to the package folder, which contains the folders that are not compiled: `policy/`, `setup/` and
 * `test/case/`.
 */
export const root = fileURLToPath(new URL('../../../', import.meta.url));
