import type { CommandNode, OptionNode } from './command-tree.js';

/** Parts shared by the bash and zsh scripts: `case` patterns. The words in them need no quotes. */

/** Returns the paths to all commands below the program as one pattern. */
export function pathPattern(tree: readonly CommandNode[]): string {
	return tree.flatMap(({ path }) => (path === '' ? [] : [path])).join('|');
}

/** `case` entry for an option: `pattern` contains `path:flag` for each flag. */
export interface ValueCase {
	readonly pattern: string;
	readonly option: OptionNode;
}

/** Returns a case for each option that takes a value. */
export function valueCases(tree: readonly CommandNode[]): readonly ValueCase[] {
	return tree.flatMap(({ path, options }) =>
		options
			.filter(({ value }) => value.kind !== 'none')
			.map((option) => ({ pattern: option.flags.map((flag) => `${path}:${flag}`).join('|'), option })),
	);
}
