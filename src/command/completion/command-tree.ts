import type { Command, Option } from 'commander';

/** What can come next, and what it is. */
export interface Candidate {
	readonly word: string;
	readonly description: string;
}

/** An option of a command. */
export interface OptionNode {
	/** `-t`, `--tenant`: one or both. */
	readonly flags: readonly string[];
	readonly description: string;
	readonly value: Value;
}

/** What follows an option, or is an argument: nothing, one of some words, a file, or what only the caller knows. */
export type Value =
	| { readonly kind: 'none' }
	| { readonly kind: 'words'; readonly words: readonly string[] }
	| { readonly kind: 'file' }
	| { readonly kind: 'other' };

/** A command as shells complete it. */
export interface CommandNode {
	/** The words that lead to it, each after a slash: `/keys/list`; empty for the program. */
	readonly path: string;
	readonly commands: readonly Candidate[];
	readonly options: readonly OptionNode[];
	/** What its arguments are, taken together. */
	readonly argument: Value;
}

/** The program and all its commands that are for people, from the declarations. */
export function commandTree(program: Command, path = ''): readonly CommandNode[] {
	const help = program.createHelp();
	const commands = help.visibleCommands(program).filter((command) => command.name() !== 'help');
	const values = program.registeredArguments.map((argument) => valueNamed(argument.name(), argument.argChoices));
	return [
		{
			path,
			commands: commands.map((command) => ({ word: command.name(), description: command.description() })),
			options: help.visibleOptions(program).map(optionNode),
			argument: values.find(({ kind }) => kind !== 'other') ?? { kind: values.length === 0 ? 'none' : 'other' },
		},
		...commands.flatMap((command) => commandTree(command, `${path}/${command.name()}`)),
	];
}

function optionNode(option: Option): OptionNode {
	const [, name = ''] = /[<[](.*?)[>\]]/.exec(option.flags) ?? [];
	return {
		flags: [option.short, option.long].filter((flag) => flag !== undefined && flag !== null),
		description: option.description,
		value: option.isBoolean() ? { kind: 'none' } : valueNamed(name, option.argChoices),
	};
}

/** What a value is, by its name in the declaration. */
function valueNamed(name: string, choices: readonly string[] | undefined): Value {
	if (choices !== undefined) return { kind: 'words', words: choices };
	return { kind: name === 'file' || name === 'folder' ? 'file' : 'other' };
}
