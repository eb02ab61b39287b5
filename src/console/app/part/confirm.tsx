import { signal, useSignal } from '@preact/signals';
import { reasonPhrases } from '../../model/phrase.js';
import { openSession } from '../session.js';
import { Dialog } from './dialog.js';
import { PhraseText } from './phrase-text.js';

/** Environment changed by a write. */
interface Target {
	readonly key: string;
	readonly production: boolean;
}

interface Question {
	readonly title: string;
	readonly text: string;
	readonly target: Target;
	readonly settle: (confirmed: boolean) => void;
}

const question = signal<Question | null>(null);

interface ConfirmOptions {
	/** Asks for confirmation in test environments too. For irreversible writes. */
	readonly always?: boolean;
	/** Environment to confirm; default: the open environment. */
	readonly target?: Target;
}

/**
 * Asks the user to confirm a write. In a production environment the user types the environment's key. In other
 * environments, only writes with `always` need a confirmation.
 */
export function confirmWrite(
	title: string,
	text: string,
	{ always = false, target = openSession().environment }: ConfirmOptions = {},
): Promise<boolean> {
	if (!always && !target.production) return Promise.resolve(true);
	return new Promise((resolve) => {
		question.value = {
			title,
			text,
			target,
			settle: (confirmed) => {
				question.value = null;
				resolve(confirmed);
			},
		};
	});
}

/** Confirmation dialog. The page contains exactly one. */
export function Confirmation() {
	const asked = question.value;
	return asked === null ? null : <ConfirmationDialog question={asked} />;
}

function ConfirmationDialog({ question: { title, text, target, settle } }: { readonly question: Question }) {
	const typed = useSignal('');
	const isTyped = !target.production || typed.value === target.key;
	return (
		<Dialog title={title} onClose={() => settle(false)}>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					if (isTyped) settle(true);
				}}
			>
				<p>
					<PhraseText phrases={reasonPhrases(text)} />
				</p>
				{target.production && (
					<label>
						<span>
							This is production. Type <code>{target.key}</code> to confirm.
						</span>
						<input
							type="text"
							value={typed.value}
							autocomplete="off"
							spellcheck={false}
							onInput={(event) => {
								typed.value = event.currentTarget.value;
							}}
						/>
					</label>
				)}
				<button type="submit" class="primary" disabled={!isTyped}>
					{title}
				</button>
			</form>
		</Dialog>
	);
}
