import Prism from 'prismjs';
import 'prismjs/components/prism-json.js';
import 'prismjs/components/prism-rego.js';

/** Piece of a line with its style sheet class. The class is `null` for plain text. */
interface CodePiece {
	readonly kind: string | null;
	readonly text: string;
}

export type CodeLines = readonly (readonly CodePiece[])[];

// The grammar is older than the OPA 1.0 keywords, so they are added here.
const rego = Prism.languages['rego'];
if (rego !== undefined) {
	rego['keyword'] = /\b(?:as|contains|default|else|every|if|import|in|not|null|package|set|some|with)\b/;
}

/** Splits code into lines and lines into pieces. Returns only text, never markup. */
export function highlightLines(text: string, language: 'rego' | 'json'): CodeLines {
	const grammar = Prism.languages[language];
	const tokens = grammar === undefined ? [text] : Prism.tokenize(text, grammar);
	const lines: CodePiece[][] = [[]];
	const add = (piece: string, kind: string | null) => {
		for (const [index, line] of piece.split('\n').entries()) {
			if (index > 0) lines.push([]);
			if (line !== '') lines.at(-1)?.push({ kind, text: line });
		}
	};
	const walk = (token: string | Prism.Token, kind: string | null): void => {
		if (typeof token === 'string') {
			add(token, kind);
			return;
		}
		const { content, type } = token;
		const inner = `token-${type}`;
		if (Array.isArray(content)) for (const one of content) walk(one, inner);
		else walk(content, inner);
	};
	for (const token of tokens) walk(token, null);
	return lines;
}
