import { program } from '../../../model/program.js';
import { CopyButton } from '../../part/copy-button.js';
import { Dialog } from '../../part/dialog.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { openSession } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import type { CheckAnswer } from './ask-check.js';

interface TestDialogProps {
	readonly answer: CheckAnswer;
	readonly onClose: () => void;
}

/** The check as a test for `opa test`. The user saves the test beside the policy. */
export function TestDialog({ answer, onClose }: TestDialogProps) {
	const loaded = useLoaded(
		async (signal) => {
			// Load the test writer on demand, because few users need it.
			const { readTest } = await import('./read-test.js');
			return readTest(answer, signal);
		},
		[JSON.stringify(answer.check), answer.revision],
	);
	const { environment } = openSession();
	return (
		<Dialog title="Copy check as test" onClose={onClose} wide>
			<p>
				Run{' '}
				<code>
					{program} policy {environment.key} --output policy
				</code>
				, save the test in the folder <code>policy</code> with a name ending in <code>_test.rego</code>, then run{' '}
				<code>opa test policy</code>.
			</p>
			<LoadedFrame loaded={loaded}>
				{(text) => (
					<>
						{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
						<pre class="code" tabIndex={0}>
							{text}
						</pre>
						<CopyButton text={text}>Copy the test</CopyButton>
					</>
				)}
			</LoadedFrame>
		</Dialog>
	);
}
