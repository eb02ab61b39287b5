import { fileURLToPath } from 'node:url';

/** Program path. The relative location is correct in both the compiled tree and the bundled program. */
export const programPath = fileURLToPath(new URL('./main.js', import.meta.url));
