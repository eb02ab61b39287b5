import type { Command, Option } from 'commander';

/** Word offered as the next completion. */
export interface Candidate {
	readonly word: string;
	readonly description: string;
}

export interface OptionNode {
	/** The option's short and long form, such as `-t` and `--tenant`, or only one form. */
	readonly flags: readonly string[];
	readonly description: string;
	readonly value: Value;
}

/** Option or argument value: none, a word from a list, a file, or free text (`other`). */
export type Value =
	| { readonly kind: 'none' }
	| { readonly kind: 'words'; readonly words: readonly string[] }
	| { readonly kind: 'file' }
	| { readonly kind: 'other' };

/** A command, with the parts that a shell completes. */
export interface CommandNode {
	/** Words that lead to the command, each after a slash: `/keys/list`. Empty for the program itself. */
	readonly path: string;
	readonly commands: readonly Candidate[];
	readonly options: readonly OptionNode[];
	/** Value kind for every argument. */
	readonly argument: Value;
}

/** Returns the program and its visible commands, from their declarations. */
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

/** Returns the value kind for an argument, based on its name in the declaration. */
function valueNamed(name: string, choices: readonly string[] | undefined): Value {
	if (choices !== undefined) return { kind: 'words', words: choices };
	return { kind: name === 'file' || name === 'folder' ? 'file' : 'other' };
}
