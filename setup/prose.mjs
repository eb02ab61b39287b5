/** Words and constructions that the project does not use, with advice. */
const rules = [
	[/(?<=^[^\w[]*)(?:What|Who|Whoever|How many|How much|Whether)\b(?!.*\?)/gs, 'free relative: use a noun'],
	[/\b(?:of|for|with|by|than|from|to|in|on|at)\s+what\b/gi, 'preposition and "what": use a noun'],
	[/\b(?:another\s+one|those\s+that|the\s+ones?\s+that|of\s+(?:theirs|its\s+own))\b/gi, 'name the noun'],
	[/\b(?:goes\s+on|is\s+told|by\s+itself|as\s+it\s+is|so\s+many)\b/gi, 'use a plain verb or adverb'],
	[/\b(?:anew|any\s+more|whoever|whom|meanwhile)\b/gi, 'use a common word'],
	[/\bof\b(?:.*?\bof\b){3}/gis, 'chain of "of": use compound nouns'],
];

/** A sentence. It ends at punctuation, or before a list item, a tag or an empty line. */
const sentence = /\S.*?(?:[.!?:;](?=\s)|(?=\n\s*(?:[-@]|\n))|$)/gs;

/**
 * Finds sentences that break a rule, in Markdown paragraphs, comments, `.describe` texts and endpoint descriptions.
 * @param {string} file its extension determines which texts are prose
 * @param {string} source
 * @returns {readonly string[]} a line per problem
 */
export function findOddEnglish(file, source) {
	return passagesOf(file, source).flatMap(({ start, text }) =>
		[...text.matchAll(sentence)].flatMap(({ 0: words, index }) =>
			rules.flatMap(([pattern, advice]) =>
				[...words.matchAll(pattern)].map(({ 0: found, index: at }) => {
					const line = source.slice(0, start + index + at).split('\n').length;
					return `${file}:${line}: ${advice}: ${found.replace(/\s+/g, ' ')}`;
				}),
			),
		),
	);
}

const comment = /^[ \t]*(?:\/\*.*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*)/gms;
const literal = /(?:'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)/s.source;
const described = new RegExp(`(?<=\\b(?:describe\\(|description:)\\s*)${literal}(?:\\s*\\+\\s*${literal})*`, 'gs');

/**
 * Returns the prose with its offsets. Replaces each character of code with an underscore or a blank, and each comment
 * sign with a blank.
 */
function passagesOf(file, source) {
	if (file.endsWith('.md')) return cut(source.replace(/^[ \t]*```.*?```/gms, blank), /^(?!\s*[|#>]).+$/gm);
	if (!/\.(?:tsx?|mjs|go)$/.test(file)) return [];
	const comments = cut(source, comment, /^[ \t]*(?:\/\/|\/?\*+\/?)|\*\/$/gm);
	// Outside src/, descriptions are data.
	return file.startsWith('src/') ? [...comments, ...cut(source, described, /^.|.$|['`]\s*\+\s*['`]/gs)] : comments;
}

function cut(source, passage, signs = /$^/g) {
	return [...source.matchAll(passage)].map(({ 0: text, index: start }) => ({
		start,
		text: text.replace(signs, blank).replace(/`[^`]*`/g, (code) => code.replace(/\S/g, '_')),
	}));
}

function blank(text) {
	return text.replace(/\S/g, ' ');
}
