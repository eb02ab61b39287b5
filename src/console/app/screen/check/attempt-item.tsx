import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Attempt, AttemptComparison, AttemptFact } from '../../../model/check/attempt.js';
import {
	attemptSentence,
	comparisonWords,
	exampleWords,
	factWords,
	type NamedCheck,
	stopWords,
} from '../../../model/check/attempt-words.js';
import { type CheckForm, withAttribute } from '../../../model/check/check-form.js';
import { phraseText } from '../../../model/phrase.js';
import type { PolicyFile } from '../../../model/policy/rego-lines.js';
import { ActionButton } from '../../../part/action-button.js';
import { announce } from '../../../part/announce.js';
import { Button } from '../../../part/button.js';
import { confirmWrite } from '../../part/confirm.js';
import { PhraseText } from '../../part/phrase-text.js';
import { mayWrite } from '../../session.js';
import type { Loaded } from '../../use-loaded.js';
import type { CheckAnswer } from './ask-check.js';
import { AttemptRego } from './attempt-rego.js';
import { addFact, removeFact } from './change-fact.js';

interface AttemptItemProps {
	readonly number: number;
	readonly attempt: Attempt;
	readonly answer: CheckAnswer;
	readonly form: CheckForm;
	readonly policy: Loaded<readonly PolicyFile[]>;
	readonly isOpen: boolean;
	readonly onToggle: (isOpen: boolean) => void;
	readonly onAsk: (form: CheckForm) => void;
	readonly onAskAgain: () => void;
}

/** An attempt, with the missing facts, the blocking facts, and the rule's Rego. */
export function AttemptItem(props: AttemptItemProps) {
	const { attempt, answer, policy, isOpen, onToggle, number } = props;
	const id = useId();
	const { user, action, resource } = answer.check;
	const instance = resource.key === undefined ? null : `${resource.type}:${resource.key}`;
	const named: NamedCheck = { user: user.key, action, type: resource.type, instance };
	return (
		<li class={isOpen ? 'check-attempt open' : 'check-attempt'}>
			<div>
				<p>
					<span class={`badge ${attempt.passed ? 'good' : 'warn'}`}>{attempt.passed ? 'passes' : 'would pass'}</span>{' '}
					<PhraseText phrases={attemptSentence(attempt, named)} />.
				</p>
				<Changes {...props} />
				<Button
					class="link"
					aria-expanded={isOpen}
					aria-controls={id}
					aria-label={`${isOpen ? 'Hide' : 'Show'} Rego for option ${number}`}
					onClick={() => onToggle(!isOpen)}
				>
					{isOpen ? 'Hide Rego' : 'Show Rego'}
				</Button>
			</div>
			<div id={id} hidden={!isOpen}>
				{isOpen && <AttemptRego attempt={attempt} policy={policy} revision={answer.policyRevision} />}
			</div>
		</li>
	);
}

function Changes({ attempt, answer, form, onAsk, onAskAgain }: AttemptItemProps) {
	const { add, remove, compare } = attempt;
	// Writes change the newest revision, so they cannot affect a result from an older revision.
	const isChangeable = mayWrite.value && form.revision === '';
	const unmet = compare.filter(({ met }) => !met);
	if (add.length + remove.length + compare.length === 0) return null;
	const act = async (verb: 'Add' | 'Remove', fact: AttemptFact) => {
		const what = phraseText(factWords(fact));
		if (!(await confirmWrite(verb, `${verb} ${what}.`))) return;
		await (verb === 'Add' ? addFact(fact) : removeFact(fact));
		announce(verb === 'Add' ? `Added: ${what}.` : `Removed: ${what}.`);
		onAskAgain();
	};
	const { request } = answer.debug;
	const seen = { user: request?.user.attributes ?? {}, resource: request?.resource.attributes ?? {} };
	const put = ({ change, example }: AttemptComparison) => onAsk(withAttribute(form, seen, change, example ?? null));
	return (
		<>
			<ul class="check-changes">
				{add.map((fact) => (
					<Change key={JSON.stringify(fact)} title="Missing">
						<PhraseText phrases={factWords(fact)} />{' '}
						{isChangeable && (
							<ActionButton act={() => act('Add', fact)} label={`Add this: ${phraseText(factWords(fact))}`}>
								Add this
							</ActionButton>
						)}
					</Change>
				))}
				{remove.map((fact) => (
					<Change key={JSON.stringify(fact)} title="Blocks the check">
						<PhraseText phrases={factWords(fact)} />. <span class="quiet">{stopWords(attempt, fact)}</span>{' '}
						{isChangeable && (
							<ActionButton act={() => act('Remove', fact)} label={`Remove this: ${phraseText(factWords(fact))}`}>
								Remove this
							</ActionButton>
						)}
					</Change>
				))}
				{unmet.map((comparison) => (
					<Change key={JSON.stringify(comparison)} title="Does not match">
						<PhraseText phrases={comparisonWords(comparison)} />.{' '}
						<Button onClick={() => put(comparison)} aria-label={`Try ${phraseText(exampleWords(comparison))}`}>
							Try <PhraseText phrases={exampleWords(comparison)} />
						</Button>
					</Change>
				))}
			</ul>
			{compare.length > unmet.length && (
				<details>
					<summary>Conditions already met</summary>
					<ul>
						{compare
							.filter(({ met }) => met)
							.map((comparison) => (
								<li key={JSON.stringify(comparison)}>
									<PhraseText phrases={comparisonWords(comparison)} />.
								</li>
							))}
					</ul>
				</details>
			)}
			{add.length + remove.length > 0 && form.revision !== '' && (
				<p class="quiet">To make changes here, check the newest revision.</p>
			)}
		</>
	);
}

function Change({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
	return (
		<li>
			<strong>{title}:</strong> {children}
		</li>
	);
}
