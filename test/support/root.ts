import { fileURLToPath } from 'node:url';

/** Absolute path to the package folder, which contains `policy/`, `setup/` and `test/case/`; these are not compiled. */
export const root = fileURLToPath(new URL('../../../', import.meta.url));
