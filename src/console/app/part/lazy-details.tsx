import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface LazyDetailsProps {
	readonly summary: ComponentChildren;
	/** Opens the element initially, and whenever this becomes true. */
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
	useEffect(() => {
		if (isFirst) isOpen.value = true;
	}, [isFirst]);
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
