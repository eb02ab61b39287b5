import type { ComponentChildren } from 'preact';

/** Text in the font of code, such as a command. */
export function CodeText({ children }: { readonly children: ComponentChildren }) {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
		<pre class="code" tabIndex={0}>
			{children}
		</pre>
	);
}
