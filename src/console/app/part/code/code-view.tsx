import { useEffect, useState } from 'preact/hooks';
import type { CodeLines } from './highlight.js';

interface CodeViewProps {
	readonly text: string;
	readonly language: 'rego' | 'json';
	/** Label for screen readers. */
	readonly label: string;
	/** Highlighted lines, counted from 1. The view scrolls to the first highlighted line. */
	readonly marked?: readonly number[];
	/** First line number in an excerpt; default 1. */
	readonly firstLine?: number;
	/** Returns a line's address. If absent, line numbers are not links. */
	readonly lineAddress?: (line: number) => string;
	/**
	 * True if lines are link targets and the view scrolls to the first marked line. False if the screen shows several
	 * texts.
	 */
	readonly anchored?: boolean;
}

/** Code with numbered lines. The code is colored after the highlighter is loaded. */
export function CodeView({
	text,
	language,
	label,
	marked = [],
	firstLine = 1,
	lineAddress,
	anchored = true,
}: CodeViewProps) {
	const [coloured, setColoured] = useState<CodeLines | null>(null);
	useEffect(() => {
		let isCurrent = true;
		setColoured(null);
		void import('./highlight.js').then(({ highlightLines }) => {
			if (isCurrent) setColoured(highlightLines(text, language));
		});
		return () => {
			isCurrent = false;
		};
	}, [text, language]);
	const lines = coloured ?? text.split('\n').map((line) => [{ kind: null, text: line }]);
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
		<section class="scroll code-view" tabIndex={0} aria-label={label}>
			<table class="code">
				<tbody>
					{lines.map((line, index) => {
						const number = firstLine + index;
						const isMarked = marked.includes(number);
						return (
							<tr key={number} id={anchored ? `L${number}` : undefined} class={isMarked ? 'marked' : ''}>
								<td class="number" ref={anchored && number === marked[0] ? scrollTo : null}>
									{lineAddress === undefined ? number : <a href={lineAddress(number)}>{number}</a>}
								</td>
								<td>
									{line.map(({ kind, text: piece }, place) => (
										<span key={place} class={kind ?? ''}>
											{piece}
										</span>
									))}
								</td>
							</tr>
						);
					})}
				</tbody>
			</table>
		</section>
	);
}

function scrollTo(element: HTMLElement | null): void {
	element?.scrollIntoView({ block: 'center' });
}
