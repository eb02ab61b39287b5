import type { ComponentChildren } from 'preact';

/** Text in an empty list: its purpose and the next step. */
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
