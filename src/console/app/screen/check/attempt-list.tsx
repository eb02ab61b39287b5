import { useSignal } from '@preact/signals';
import type { Attempt } from '../../../model/check/attempt.js';
import type { CheckForm } from '../../../model/check/check-form.js';
import type { PolicyFile } from '../../../model/policy/rego-lines.js';
import { Button } from '../../../part/button.js';
import { storing } from '../../../part/setter.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { readPolicy } from '../policy/read-policies.js';
import type { CheckAnswer } from './ask-check.js';
import { AttemptItem } from './attempt-item.js';

/** Number of attempts to show first. */
const shownAtFirst = 10;

interface AttemptListProps {
	readonly answer: CheckAnswer;
	readonly attempts: readonly Attempt[];
	readonly form: CheckForm;
	readonly onAsk: (form: CheckForm) => void;
	readonly onAskAgain: () => void;
}

/** Attempts for a check. Shows the Rego for the attempt in the URL, or else for the first attempt. */
export function AttemptList({ answer, attempts, form, onAsk, onAskAgain }: AttemptListProps) {
	const search = useSearch();
	const opened = search.get('way') === '' ? 1 : Number(search.get('way'));
	const isWhole = useSignal(opened > shownAtFirst);
	const revision = answer.policyRevision;
	const policy = useLoaded((signal) => readFiles(revision, signal), [revision]);
	const shown = isWhole.value ? attempts : attempts.slice(0, shownAtFirst);
	return (
		<>
			<ol class="check-attempts">
				{shown.map((attempt, index) => (
					<AttemptItem
						key={index}
						number={index + 1}
						attempt={attempt}
						answer={answer}
						form={form}
						policy={policy}
						isOpen={opened === index + 1}
						onToggle={(isOpen) => search.set({ way: String(isOpen ? index + 1 : 0) }, { replace: true })}
						onAsk={onAsk}
						onAskAgain={onAskAgain}
					/>
				))}
			</ol>
			{shown.length < attempts.length && <Button onClick={storing(isWhole, true)}>Show all {attempts.length}</Button>}
		</>
	);
}

/** Reads the files of the policy that decided the check. */
async function readFiles(revision: number | null, signal: AbortSignal): Promise<readonly PolicyFile[]> {
	return revision === null ? [] : (await readPolicy(String(revision), signal)).files;
}
