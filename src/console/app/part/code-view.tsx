import { useEffect, useState } from 'preact/hooks';
import type { CodeLines } from './highlight.js';

interface CodeViewProps {
	readonly text: string;
	readonly language: 'rego' | 'json';
	/** What the code is, for those who do not see the page. */
	readonly label: string;
	/** The lines that matter, from 1. The first is scrolled to. */
	readonly marked?: readonly number[];
	/** The number of the first line, where the text is a part of a longer one; 1 when left out. */
	readonly firstLine?: number;
	/** The address of a line; without it lines are no links. */
	readonly lineAddress?: (line: number) => string;
	/** Whether lines are targets of links, and the first marked one is scrolled to. Not for one text among others. */
	readonly anchored?: boolean;
}

/** Code with numbered lines, coloured once the colours are loaded. */
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
		// biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keyboard.
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
