import type { CommandNode, OptionNode } from './command-tree.js';

/** What the scripts of bash and zsh have in common: patterns for `case`, of words that need no quotes. */

/** The paths of all commands below the program, as one pattern. */
export function pathPattern(tree: readonly CommandNode[]): string {
	return tree.flatMap(({ path }) => (path === '' ? [] : [path])).join('|');
}

/** Options of one kind of value: the pattern of `path:flag` for all of them. */
export interface ValueCase {
	readonly pattern: string;
	readonly option: OptionNode;
}

/** A case for each option that takes a value. */
export function valueCases(tree: readonly CommandNode[]): readonly ValueCase[] {
	return tree.flatMap(({ path, options }) =>
		options
			.filter(({ value }) => value.kind !== 'none')
			.map((option) => ({ pattern: option.flags.map((flag) => `${path}:${flag}`).join('|'), option })),
	);
}
