/** Returns the fenced blocks in one language. */
export function fenced(markdown: string, language: string): readonly string[] {
	return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, name, text = '']) =>
		name === language ? [text] : [],
	);
}
