/** Command that runs the program in its own folder. There is no package with its name to install. */
export const program = 'node dist/program/main.js';
