import type { Signal } from '@preact/signals';
import { storing } from '../../part/setter.js';
import { CodeText } from './code/code-text.js';
import { CopyButton } from './copy-button.js';
import { Dialog } from './dialog.js';

interface SecretDialogProps {
	/** Secret to show. Closing the dialog sets this signal to `null`, which discards the secret. */
	readonly secret: Signal<string | null>;
	readonly title: string;
}

/**
 * Shows a secret once. The secret is not stored in the URL or in the browser, and closing the dialog discards it.
 */
export function SecretDialog({ secret, title }: SecretDialogProps) {
	const text = secret.value;
	if (text === null) return null;
	return (
		<Dialog title={title} onClose={storing(secret, null)}>
			<p>Copy the secret now. It is not shown again.</p>
			<CodeText>{text}</CodeText>
			<CopyButton text={text}>Copy</CopyButton>
		</Dialog>
	);
}
