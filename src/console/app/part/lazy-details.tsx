import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

interface LazyDetailsProps {
	readonly summary: ComponentChildren;
	readonly isFirst: boolean;
	readonly class: string;
	/** Renders the content; called while the element is open. */
	readonly children: () => ComponentChildren;
}

/**
 * Collapsed element that renders its content only when it is opened. A screen may have many of these elements, and each
 * may be long.
 */
export function LazyDetails({ summary, isFirst, class: className, children }: LazyDetailsProps) {
	const isOpen = useSignal(isFirst);
	return (
		<details
			class={className}
			open={isOpen.value}
			onToggle={(event) => {
				isOpen.value = event.currentTarget.open;
			}}
		>
			<summary>{summary}</summary>
			{isOpen.value && children()}
		</details>
	);
}
