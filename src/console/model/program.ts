/** Command that runs the program in its folder. The program is not published as a package. */
export const program = 'node dist/program/main.js';
