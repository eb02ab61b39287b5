import { fileURLToPath } from 'node:url';

/** The package's folder as an absolute path: where `policy/`, `setup/` and `test/case/` lie, which are not compiled. */
export const root = fileURLToPath(new URL('../../../', import.meta.url));
