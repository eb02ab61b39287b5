import { fileURLToPath } from 'node:url';

/** Program path. Its location is correct in both the compiled tree and the bundled program. */
export const programPath = fileURLToPath(new URL('./main.js', import.meta.url));
