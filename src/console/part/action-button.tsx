import { useSignal } from '@preact/signals';
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Button } from './button.js';
import { messageOf } from './message-of.js';

interface Work {
	/** True while a task is running. */
	readonly busy: boolean;
	/** Failure of the last attempt. */
	readonly failure: string | null;
	run(work: () => Promise<void>): Promise<void>;
	/** Returns a form's submit handler that runs the task. */
	submit(work: () => Promise<void>): (event: Event) => void;
}

/** Runs one task at a time and reports its failure. */
export function useWork(): Work {
	const busy = useSignal(false);
	const failure = useSignal<string | null>(null);
	const run = async (work: () => Promise<void>) => {
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
	};
	const submit = (work: () => Promise<void>) => (event: Event) => {
		event.preventDefault();
		void run(work);
	};
	return { busy: busy.value, failure: failure.value, run, submit };
}

/** Message about a failure. Screen readers announce it immediately. */
export function Failure({ text }: { readonly text: string | null }) {
	if (text === null) return null;
	return (
		<p class="failure" role="alert">
			{text}
		</p>
	);
}

interface SubmitButtonProps extends ButtonHTMLAttributes {
	readonly work: Work;
	/** True if sending the form is not the main action of the page. */
	readonly secondary?: boolean;
}

/** Button that sends a form. The other props are attributes of the button. */
export function SubmitButton({ work, secondary = false, ...button }: SubmitButtonProps) {
	return <button type="submit" class={secondary ? undefined : 'primary'} aria-disabled={work.busy} {...button} />;
}

interface ActionButtonProps {
	readonly act: () => Promise<void>;
	/** Accessible label, for use if the button's text alone is not specific enough. */
	readonly label?: string;
	readonly children: ComponentChildren;
}

/** Button that starts an action on the server. Only one call runs at a time. */
export function ActionButton({ act, label, children }: ActionButtonProps) {
	const work = useWork();
	return (
		<>
			<Button aria-label={label} aria-disabled={work.busy} onClick={() => void work.run(act)}>
				{children}
			</Button>
			<Failure text={work.failure} />
		</>
	);
}
