import { fileURLToPath } from 'node:url';

/** The path of the program. Its place here makes it right in the compiled tree and in the bundled program alike. */
export const programPath = fileURLToPath(new URL('./main.js', import.meta.url));
