import { shellWord } from './shell-word.js';

/**
 * The command that runs this very program with these settings, to be pasted into a shell in any folder. It names the
 * installed file: a name alone would be asked of a registry, where it may be somebody else's.
 */
export function programCommand(settings: Readonly<Record<string, string>>): string {
	const assignments = Object.entries(settings).map(([name, value]) => `${name}=${shellWord(value)} `);
	return `${assignments.join('')}node ${shellWord(process.argv[1] ?? 'dist/program/main.js')}`;
}
