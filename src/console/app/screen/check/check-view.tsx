import { useSignal } from '@preact/signals';
import { ApiFailure } from '../../../model/api-failure.js';
import { type CheckForm, checkBody, checkQuery } from '../../../model/check/check-form.js';
import { contextualFactsBody } from '../../../model/check/contextual-rows.js';
import { Button } from '../../../part/button.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { newestRevision, openSession } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { askCheck } from './ask-check.js';
import { CheckAnswerView } from './check-answer.js';
import { CheckFields } from './check-fields.js';

/** Runs a check and explains the result. */
export function CheckView({ form }: { readonly form: CheckForm }) {
	const search = useSearch();
	const asked = useSignal(0);
	const least = useSignal(0);
	const check = checkBody(form);
	const loaded = useLoaded(
		(signal) => askCheck(form, { least: least.value, signal }),
		[JSON.stringify(form), asked.value],
	);
	const ask = (next: CheckForm) => {
		search.set({ ...checkQuery(next), way: '' });
		asked.value += 1;
	};
	const askAgain = () => {
		// The result must include the last write.
		least.value = newestRevision.value;
		asked.value += 1;
	};
	const answer = loaded.value;
	// Hide the result if it belongs to a different check.
	const asks = JSON.stringify([check, contextualFactsBody(form.contextualFacts, form.user)]);
	const isCurrent = check !== null && answer !== null && JSON.stringify([answer.check, answer.facts]) === asks;
	return (
		<>
			{!openSession().decision_point && <NoDecisionPoint />}
			<CheckFields form={form} onAsk={ask} />
			{check === null ? (
				<Empty title="No check yet" docs={{ page: 'policy/console#check-and-why', title: 'Check and why' }}>
					<p>Enter a user, an action and a resource. The fields suggest values from this environment.</p>
				</Empty>
			) : (
				<>
					<LoadedFrame loaded={isCurrent ? loaded : { ...loaded, value: null }}>
						{(current) =>
							current === null ? null : (
								<CheckAnswerView answer={current} form={form} onAsk={ask} onAskAgain={askAgain} />
							)
						}
					</LoadedFrame>
					{isUnanswered(loaded.failure) && form.revision === '' && openSession().decision_point && (
						<p>
							<Button onClick={() => ask({ ...form, revision: String(newestRevision.value) })}>
								Use the API instead
							</Button>
						</p>
					)}
				</>
			)}
		</>
	);
}

/** True if the decision point could not decide. The API can decide instead, at the newest revision. */
function isUnanswered(failure: Error | null): boolean {
	return failure instanceof ApiFailure && failure.status >= 500;
}

function NoDecisionPoint() {
	return (
		<p class="notice">
			No decision point is configured for this environment, so the API decides at the newest revision. To use a decision
			point, run one with the server (<code>npm start</code>), or set <code>CONSOLE_PDP_URL</code>.
		</p>
	);
}
