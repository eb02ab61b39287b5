import { shellWord } from './shell-word.js';

/**
 * Returns a shell command that runs this program with these settings from any folder. The command contains the
 * installed file's path, because a bare name would be looked up in a registry, where a stranger may own it.
 */
export function programCommand(settings: Readonly<Record<string, string>>): string {
	const assignments = Object.entries(settings).map(([name, value]) => `${name}=${shellWord(value)} `);
	return `${assignments.join('')}node ${shellWord(process.argv[1] ?? 'dist/program/main.js')}`;
}
