import type { Signal } from '@preact/signals';
import { CopyButton } from './copy-button.js';
import { Dialog } from './dialog.js';

interface SecretDialogProps {
	/** What to show; set to null when the dialog is closed, which forgets it. */
	readonly secret: Signal<string | null>;
	readonly title: string;
}

/** Shows a secret once. It is in no address and no storage, and gone when the dialog is closed. */
export function SecretDialog({ secret, title }: SecretDialogProps) {
	const text = secret.value;
	if (text === null) return null;
	return (
		<Dialog
			title={title}
			onClose={() => {
				secret.value = null;
			}}
		>
			<p>It is shown this once. Copy it to where it is needed.</p>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keyboard. */}
			<pre class="code" tabIndex={0}>
				{text}
			</pre>
			<CopyButton text={text}>Copy</CopyButton>
		</Dialog>
	);
}
