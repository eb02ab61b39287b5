/** Safe text for terminals. Untrusted text, such as keys and names, cannot move the cursor or hide anything. */

/**
 * Characters that control a terminal or are invisible: controls, format characters, line separators, lone surrogates.
 */
const active = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Returns text as one line, with terminal controls replaced by escapes such as `\u001b`. */
export function visible(text: string): string {
	return text.replaceAll(active, escaped);
}

/** Escapes like `visible`, but keeps line feeds and tabs. */
export function visibleLines(text: string): string {
	return text.replaceAll(active, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

function escaped(character: string): string {
	if (character === '\n') return '\\n';
	if (character === '\t') return '\\t';
	// A character beyond U+FFFF becomes two surrogate halves, as in JSON.
	return character
		.split('')
		.map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
		.join('');
}

/** Formats a value as indented JSON with a final line feed. JSON escapes keep terminals safe. */
export function jsonText(value: unknown): string {
	return `${visibleLines(JSON.stringify(value, null, 2))}\n`;
}

/** Formats a value as one line of JSON. */
export function jsonLine(value: unknown): string {
	return `${visibleLines(JSON.stringify(value))}\n`;
}

/** Formats a table with titles and aligned columns. Cells may contain any text. The last line ends with a line feed. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
	const lines = [titles, ...rows].map((cells) => cells.map(visible));
	const widths = titles.map((_, column) => Math.max(...lines.map((cells) => width(cells[column] ?? ''))));
	const line = (cells: readonly string[]) =>
		cells
			.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell)))
			.join('  ')
			.trimEnd();
	return `${lines.map(line).join('\n')}\n`;
}

const noWidth = /^[\p{Mn}\p{Me}]$/u;
/** East Asian characters and pictographs, which are two columns wide. */
const twoWide =
	/^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;

/** Returns a string's width in columns. */
function width(text: string): number {
	let columns = 0;
	for (const character of text) columns += noWidth.test(character) ? 0 : twoWide.test(character) ? 2 : 1;
	return columns;
}
