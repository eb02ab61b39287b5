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
	/** Key to type; `null` if a button is enough. */
	readonly typed: string | null;
	readonly isProduction: boolean;
	readonly settle: (confirmed: boolean) => void;
}

const question = signal<Question | null>(null);

interface ConfirmOptions {
	/** Asks for confirmation outside production, too. For irreversible writes. */
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
	return ask({ title, text, typed: target.production ? target.key : null, isProduction: target.production });
}

/**
 * Asks the user to confirm a write to a project or the organization by typing its key. Returns the request headers with
 * the key, because the server checks the confirmation; `null` if the user does not confirm.
 */
export async function confirmByKey(title: string, text: string, key: string): Promise<ConfirmationHeaders | null> {
	const isConfirmed = await ask({ title, text, typed: key, isProduction: false });
	return isConfirmed ? { 'X-Console-Confirm': key } : null;
}

interface ConfirmationHeaders {
	readonly 'X-Console-Confirm'?: string;
}

function ask(asked: Omit<Question, 'settle'>): Promise<boolean> {
	return new Promise((resolve) => {
		question.value = {
			...asked,
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

interface ConfirmationDialogProps {
	readonly question: Question;
}

function ConfirmationDialog({ question: { title, text, typed: key, isProduction, settle } }: ConfirmationDialogProps) {
	const typed = useSignal('');
	const isTyped = key === null || typed.value === key;
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
				{key !== null && (
					<label>
						<span>
							{isProduction && 'This is production. '}Type <code>{key}</code> to confirm.
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
