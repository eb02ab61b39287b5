import { curlCommand } from '../../model/check/curl-command.js';
import { recordedCalls } from '../api.js';
import { CodeText } from './code/code-text.js';
import { CopyButton } from './copy-button.js';
import { Dialog } from './dialog.js';
import { DialogButton } from './dialog-button.js';

/** Button that shows the screen's calls as shell commands. */
export function AsCurl() {
	return <DialogButton text="As curl">{(close) => <AsCurlDialog onClose={close} />}</DialogButton>;
}

function AsCurlDialog({ onClose }: { readonly onClose: () => void }) {
	const commands = recordedCalls.value.map((call) => curlCommand(call, location.origin)).join('\n\n');
	return (
		<Dialog title="API calls on this screen" onClose={onClose} wide>
			<p class="quiet">
				Set <code>$PERMIT_API_KEY</code> to an API key and <code>$PDP_URL</code> to the decision point’s URL.
			</p>
			<CodeText>{commands || 'No API calls on this screen yet.'}</CodeText>
			<CopyButton text={commands}>Copy</CopyButton>
		</Dialog>
	);
}
