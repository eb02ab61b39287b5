import { useSignal } from '@preact/signals';
import { attemptSentence, attemptsTitle, blockingWords } from '../../../model/check/attempt-words.js';
import { type CheckForm, checkQuery } from '../../../model/check/check-form.js';
import { decisiveReason, reasonSections } from '../../../model/check/decided.js';
import { explainCode } from '../../../model/check/denial-codes.js';
import { reasonPhrases } from '../../../model/phrase.js';
import { visibleText } from '../../../model/visible-text.js';
import { Button } from '../../../part/button.js';
import { storing } from '../../../part/setter.js';
import { ButtonLink } from '../../part/button-link.js';
import { PhraseText } from '../../part/phrase-text.js';
import { TimeText } from '../../part/time-text.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite, newestRevision } from '../../session.js';
import type { CheckAnswer } from './ask-check.js';
import { AttemptList } from './attempt-list.js';
import { ContextualSources } from './contextual-sources.js';
import { TestDialog } from './test-dialog.js';

interface CheckAnswerProps {
	readonly answer: CheckAnswer;
	readonly form: CheckForm;
	readonly onAsk: (form: CheckForm) => void;
	/** Repeats the check at the newest revision. */
	readonly onAskAgain: () => void;
}

/** Result of a check in words, with all attempts: the ways in which the check passes or could pass. */
export function CheckAnswerView({ answer, form, onAsk, onAskAgain }: CheckAnswerProps) {
	const { allow, debug } = answer;
	const isTestOpen = useSignal(false);
	const attempts = debug.attempts ?? [];
	const isContextual = answer.facts !== undefined;
	return (
		<>
			<section class={`check-answer ${allow ? 'allowed' : 'denied'}`} aria-label="Result" role="status">
				<Verdict answer={answer} />
				{debug.blocking_roles?.map((name) => (
					<p key={name}>
						<PhraseText phrases={blockingWords(answer.check.user.key, name)} />
					</p>
				))}
				{answer.allowWithoutFacts !== null && (
					<p>
						Without the contextual facts, the check is{' '}
						<strong>{answer.allowWithoutFacts ? 'allowed' : 'denied'}</strong>.
					</p>
				)}
				<Origin answer={answer} at={form.revision === '' ? '' : form.at} />
			</section>
			<div class="line">
				<Button onClick={onAskAgain}>Run again</Button>
				{!isContextual && <Button onClick={storing(isTestOpen, true)}>Copy as test</Button>}
				{mayWrite.value && (
					<ButtonLink
						href={screenPath('tests', { ...checkQuery(form), new: 'yes', expected: allow ? 'allow' : 'deny' })}
					>
						Save as test
					</ButtonLink>
				)}
			</div>
			{isTestOpen.value && <TestDialog answer={answer} form={form} onClose={storing(isTestOpen, false)} />}
			{isContextual ? <ContextualSources answer={answer} /> : <h2>{attemptsTitle(allow, attempts.length, debug)}</h2>}
			{attempts.length > 0 && (
				<AttemptList
					// Reset the list for a new check, because its open items belong to the previous result.
					key={JSON.stringify(answer.check)}
					answer={answer}
					attempts={attempts}
					form={form}
					onAsk={onAsk}
					onAskAgain={onAskAgain}
				/>
			)}
			{!allow && debug.granted === false && <GrantLink check={answer.check} />}
			{debug.truncated === true && attempts.length > 0 && <p class="quiet">This list may be incomplete.</p>}
			<Sections answer={answer} />
		</>
	);
}

/** Links to the action's row in the policy matrix, where a draft can grant the permission to a role. */
function GrantLink({ check: { resource, action } }: Pick<CheckAnswer, 'check'>) {
	return (
		<p>
			<a href={screenPath('matrix', { resource: resource.type })}>
				Grant <code>{visibleText(`${resource.type}:${action}`)}</code> to a role
			</a>
		</p>
	);
}

function Verdict({ answer: { allow, debug, check } }: { readonly answer: CheckAnswer }) {
	const { code, reason } = decisiveReason(allow, debug);
	if (allow) {
		const [first] = debug.attempts ?? [];
		const instance = check.resource.key === undefined ? null : `${check.resource.type}:${check.resource.key}`;
		const named = { user: check.user.key, action: check.action, type: check.resource.type, instance };
		const section = reasonSections(debug)[0]?.[1];
		return (
			<p class="check-verdict">
				<strong class="state good">Allowed</strong>
				{first === undefined ? (
					section !== undefined && (
						<>
							: <PhraseText phrases={reasonPhrases(section.reason)} />
						</>
					)
				) : (
					<>
						: <PhraseText phrases={attemptSentence(first, named)} />.
					</>
				)}
			</p>
		);
	}
	const explained = explainCode(code);
	return (
		<>
			<p class="check-verdict">
				<strong class="state bad">Denied</strong>
				{reason !== null && (
					<>
						: <PhraseText phrases={reasonPhrases(reason)} />.
					</>
				)}
			</p>
			<p>
				<code>{visibleText(code)}</code> {explained !== null && `${explained.meaning} ${explained.advice}`}
			</p>
		</>
	);
}

/** Source and age of the result. */
function Origin({ answer, at }: { readonly answer: CheckAnswer; readonly at: string }) {
	const { revision, policyRevision, fromDecisionPoint } = answer;
	const isBehind = revision !== null && policyRevision !== null && policyRevision < revision;
	const newest = newestRevision.value;
	return (
		<p class="quiet">
			{fromDecisionPoint ? 'Result from the decision point' : 'Result from the API'}
			{revision !== null && ` at revision ${revision}`}
			{isBehind && `, with the policy of revision ${policyRevision}`}
			{revision !== null && revision < newest && ` (newest: ${newest})`}
			{at !== '' && (
				<>
					, as of <TimeText at={at} />
				</>
			)}
			.
		</p>
	);
}

/** The result and its reason, by kind of grant. */
function Sections({ answer: { debug } }: { readonly answer: CheckAnswer }) {
	const sections = reasonSections(debug);
	if (sections.length === 0) return null;
	return (
		<>
			<h2>Results by kind of grant</h2>
			<dl class="check-sections">
				{sections.map(([title, { allow, code, reason }]) => (
					<div key={title}>
						<dt>{title}</dt>
						<dd>
							<span class={`badge ${allow ? 'good' : 'bad'}`}>{allow ? 'allows' : 'denies'}</span> —{' '}
							<PhraseText phrases={reasonPhrases(reason)} /> {!allow && <code>{visibleText(code)}</code>}
						</dd>
					</div>
				))}
			</dl>
		</>
	);
}
