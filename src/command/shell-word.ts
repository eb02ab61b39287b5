/** Quotes a word for a shell if necessary. */
export function shellWord(text: string): string {
	return /^[\w./:@%+,=-]+$/.test(text) ? text : shellQuoted(text);
}

/** Quotes text in single quotes for bash and zsh. */
export function shellQuoted(text: string): string {
	return `'${text.replaceAll("'", `'\\''`)}'`;
}
