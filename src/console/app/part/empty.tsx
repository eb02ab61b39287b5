import type { ComponentChildren } from 'preact';
import { type DocumentationPage, documentationPath } from '../../model/documentation-path.js';

interface EmptyProps {
	readonly title: string;
	/** Page about the next step. */
	readonly docs?: DocumentationPage;
	readonly children?: ComponentChildren;
}

/** Text in an empty list: its purpose, the next step, and the documentation. */
export function Empty({ title, docs, children }: EmptyProps) {
	return (
		<div class="empty">
			<p>
				<strong>{title}</strong>
			</p>
			{children}
			{docs !== undefined && (
				<p>
					Documentation: <a href={documentationPath(docs.page)}>{docs.title}</a>
				</p>
			)}
		</div>
	);
}
