import type { ComponentChildren } from 'preact';

interface SectionProps {
	/** Id of the title, unique on the page. */
	readonly id: string;
	readonly title: ComponentChildren;
	readonly children: ComponentChildren;
}

/** Section of a page with its title. */
export function Section({ id, title, children }: SectionProps) {
	return (
		<section aria-labelledby={id}>
			<h2 id={id}>{title}</h2>
			{children}
		</section>
	);
}
