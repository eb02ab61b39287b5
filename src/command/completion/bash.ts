import { shellQuoted } from '../shell-word.js';
import type { CommandNode } from './command-tree.js';
import { pathPattern, valueCases } from './shell-cases.js';

/**
 * Returns a program's bash completion script. If the script offers nothing, bash offers files. The script works in bash
 * 3, which macOS includes.
 */
export function bashCompletion(tree: readonly CommandNode[], program: string): string {
	const values = valueCases(tree).flatMap(({ pattern, option: { value } }) =>
		value.kind === 'words'
			? [`\t\t${pattern}) COMPREPLY=($(compgen -W ${shellQuoted(value.words.join(' '))} -- "$current")); return ;;`]
			: [`\t\t${pattern}) return ;;`],
	);
	const commands = tree.map(({ path, commands, options, argument }) => {
		const words = [...commands.map(({ word }) => word), ...(argument.kind === 'words' ? argument.words : [])];
		const flags = options.flatMap((option) => option.flags);
		return `\t\t${path === '' ? "''" : path}) words=${shellQuoted(words.join(' '))} options=${shellQuoted(flags.join(' '))} ;;`;
	});
	return `# bash completion of ${program}, printed by \`${program} completion bash\`
_${program}() {
	local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} at='' words='' options='' i
	COMPREPLY=()
	# Of --option=value, bash makes three words.
	if [ "$current" = '=' ]; then
		current=''
	elif [ "$previous" = '=' ]; then
		previous=\${COMP_WORDS[COMP_CWORD-2]}
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case "$at/\${COMP_WORDS[i]}" in
			${pathPattern(tree)}) at=$at/\${COMP_WORDS[i]} ;;
		esac
	done
	case "$at:$previous" in
${values.join('\n')}
	esac
	case "$at" in
${commands.join('\n')}
	esac
	case "$current" in
		-*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
		*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
	esac
}
complete -o default -F _${program} ${program}
`;
}
