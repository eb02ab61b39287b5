import type { CheckForm } from '../../../model/check/check-form.js';
import { program } from '../../../model/program.js';
import { answeredOnce, management } from '../../api.js';
import { CodeText } from '../../part/code/code-text.js';
import { CopyButton } from '../../part/copy-button.js';
import { Dialog } from '../../part/dialog.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { newestRevision, openSession } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { type CheckAnswer, explanationRequest } from './ask-check.js';

interface TestDialogProps {
	readonly answer: CheckAnswer;
	readonly form: CheckForm;
	readonly onClose: () => void;
}

/** The check as a test for `opa test`. The user saves the test next to the policy. */
export function TestDialog({ answer, form, onClose }: TestDialogProps) {
	const body = explanationRequest(answer.check, answer.revision ?? newestRevision.peek(), form);
	const loaded = useLoaded(
		(signal) =>
			answeredOnce(management.post('/v2/projects/{proj_id}/envs/{env_id}/explanation/test', { body, signal })),
		[JSON.stringify(body)],
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
				{({ text }) => (
					<>
						<CodeText>{text}</CodeText>
						<CopyButton text={text}>Copy the test</CopyButton>
					</>
				)}
			</LoadedFrame>
		</Dialog>
	);
}
