import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

interface LazyDetailsProps {
	readonly summary: ComponentChildren;
	/** Whether it is open at first. */
	readonly isFirst: boolean;
	readonly class: string;
	/** Makes what is folded away; called while it is open. */
	readonly children: () => ComponentChildren;
}

/** Something that is folded away, and made when it is opened: there may be many, and each may be long. */
export function LazyDetails({ summary, isFirst, class: className, children }: LazyDetailsProps) {
	const isOpen = useSignal(isFirst);
	return (
		<details
			class={className}
			open={isFirst}
			onToggle={(event) => {
				isOpen.value = event.currentTarget.open;
			}}
		>
			<summary>{summary}</summary>
			{isOpen.value && children()}
		</details>
	);
}
