import type { ComponentChildren } from 'preact';

/** What a list says that is empty: what it would hold, and what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
	return (
		<div class="empty">
			<p>
				<strong>{title}</strong>
			</p>
			{children}
		</div>
	);
}
