/** A word as a shell takes it, in quotes where it has to be. */
export function shellWord(text: string): string {
	return /^[\w./:@%+,=-]+$/.test(text) ? text : shellQuoted(text);
}

/** Text in single quotes, as bash and zsh read it. */
export function shellQuoted(text: string): string {
	return `'${text.replaceAll("'", `'\\''`)}'`;
}
