import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { messageOf } from './message-of.js';

interface Work {
	/** Whether the work is under way. */
	readonly busy: boolean;
	/** What the last try failed with. */
	readonly failure: string | null;
	run(work: () => Promise<void>): Promise<void>;
}

/** One piece of work at a time, and what became of it. */
export function useWork(): Work {
	const busy = useSignal(false);
	const failure = useSignal<string | null>(null);
	return {
		busy: busy.value,
		failure: failure.value,
		run: async (work) => {
			if (busy.value) return;
			busy.value = true;
			failure.value = null;
			try {
				await work();
			} catch (error) {
				failure.value = messageOf(error);
			} finally {
				busy.value = false;
			}
		},
	};
}

/** Says what failed, at once to screen readers too. */
export function Failure({ text }: { readonly text: string | null }) {
	if (text === null) return null;
	return (
		<p class="failure" role="alert">
			{text}
		</p>
	);
}

interface ActionButtonProps {
	readonly act: () => Promise<void>;
	/** What it does, where its text alone does not say to what. */
	readonly label?: string;
	readonly children: ComponentChildren;
}

/** A button that does something at the server, once at a time. */
export function ActionButton({ act, label, children }: ActionButtonProps) {
	const work = useWork();
	return (
		<>
			<button type="button" aria-label={label} aria-disabled={work.busy} onClick={() => void work.run(act)}>
				{children}
			</button>
			<Failure text={work.failure} />
		</>
	);
}
