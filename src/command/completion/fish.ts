import type { CommandNode, OptionNode } from './command-tree.js';

/** Returns a program's fish completion script. */
export function fishCompletion(tree: readonly CommandNode[], program: string): string {
	const paths = tree.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]));
	const lines = tree.flatMap((node) => commandLines(node, program));
	return `# fish completion of ${program}, printed by \`${program} completion fish\`
function __${program}_at
	set -l at ''
	for word in (commandline -opc)
		switch "$at/$word"
			case ${paths.join(' ')}
				set at "$at/$word"
		end
	end
	test "$at" = "$argv[1]"
end
complete -c ${program} -f
${lines.join('\n')}
`;
}

function commandLines({ path, commands, options, argument }: CommandNode, program: string): readonly string[] {
	const line = `complete -c ${program} -n ${quoted(`__${program}_at '${path}'`)}`;
	return [
		...commands.map(({ word, description }) => `${line} -a ${quoted(word)} -d ${quoted(description)}`),
		...(argument.kind === 'words' ? [`${line} -a ${quoted(argument.words.join(' '))}`] : []),
		...(argument.kind === 'file' ? [`${line} -F`] : []),
		...options.map((option) => `${line} ${optionWords(option)}`),
	];
}

function optionWords({ flags, description, value }: OptionNode): string {
	const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
	const needs = { none: '', words: ' -x', file: ' -r -F', other: ' -x' }[value.kind];
	const words = value.kind === 'words' ? ` -a ${quoted(value.words.join(' '))}` : '';
	return `${names.join(' ')}${needs}${words} -d ${quoted(description)}`;
}

/** Quotes text in single quotes for fish. */
function quoted(text: string): string {
	return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
