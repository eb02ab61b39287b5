/** Returns the fenced blocks in a language. */
export function fenced(markdown: string, language: string): readonly string[] {
	return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, name, text = '']) =>
		name === language ? [text] : [],
	);
}
