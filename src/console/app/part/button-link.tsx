import type { ComponentChildren } from 'preact';

/** Link to a screen in the form of a button. */
export function ButtonLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
	return (
		<a class="button" href={href}>
			{children}
		</a>
	);
}
