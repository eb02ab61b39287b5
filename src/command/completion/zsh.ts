import { shellQuoted } from '../shell-word.js';
import type { Candidate, CommandNode } from './command-tree.js';
import { pathPattern, valueCases } from './shell-cases.js';

/** Returns a program's zsh completion script. Source it, or put it into an `fpath` folder as `_<program>`. */
export function zshCompletion(tree: readonly CommandNode[], program: string): string {
	const values = valueCases(tree).map(({ pattern, option: { value } }) => {
		if (value.kind === 'words') return `\t\t(${pattern}) compadd -- ${value.words.join(' ')}; return ;;`;
		return `\t\t(${pattern}) ${value.kind === 'file' ? '_files; ' : ''}return ;;`;
	});
	const commands = tree.map(({ path, commands, options, argument }) => {
		const words = argument.kind === 'words' ? argument.words.map((word) => ({ word, description: word })) : [];
		const flags = options.flatMap(({ flags, description }) => flags.map((word) => ({ word, description })));
		const files = argument.kind === 'file' ? ' files=1' : '';
		const at = path === '' ? "''" : path;
		return `\t\t(${at}) found=(${described([...commands, ...words])}) marked=(${described(flags)})${files} ;;`;
	});
	return `#compdef ${program}
# zsh completion of ${program}, printed by \`${program} completion zsh\`
_${program}() {
	local at='' files='' word previous=$words[CURRENT-1]
	local -a found marked
	for word in "\${(@)words[2,CURRENT-1]}"; do
		case "$at/$word" in
			(${pathPattern(tree)}) at=$at/$word ;;
		esac
	done
	case "\${at}:\${previous}" in
${values.join('\n')}
	esac
	case "$at" in
${commands.join('\n')}
	esac
	if [[ $words[CURRENT] == -* ]]; then
		_describe option marked
	elif [[ -n $files ]]; then
		_files
	else
		_describe command found
	fi
}
if [ "$funcstack[1]" = "_${program}" ]; then
	_${program} "$@"
else
	compdef _${program} ${program}
fi
`;
}

/** Formats words for `_describe`, each followed by a colon and its description. */
function described(candidates: readonly Candidate[]): string {
	return candidates
		.map(({ word, description }) => shellQuoted(`${word.replaceAll(':', '\\:')}:${description}`))
		.join(' ');
}
