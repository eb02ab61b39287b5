import { signal, useSignal } from '@preact/signals';
import { openSession } from '../session.js';
import { Dialog } from './dialog.js';

interface Question {
	readonly title: string;
	readonly text: string;
	readonly settle: (confirmed: boolean) => void;
}

const question = signal<Question | null>(null);

interface ConfirmOptions {
	/** Whether to ask also where nothing is at stake but a test environment: for what cannot be taken back. */
	readonly always?: boolean;
}

/**
 * Whether a write is wanted. In a production environment a person types the environment's key to say so; elsewhere only
 * what is asked `always` is confirmed.
 */
export function confirmWrite(title: string, text: string, { always = false }: ConfirmOptions = {}): Promise<boolean> {
	if (!always && !openSession().environment.production) return Promise.resolve(true);
	return new Promise((resolve) => {
		question.value = {
			title,
			text,
			settle: (confirmed) => {
				question.value = null;
				resolve(confirmed);
			},
		};
	});
}

/** Where questions are asked. There is one on the page. */
export function Confirmation() {
	const asked = question.value;
	return asked === null ? null : <ConfirmationDialog question={asked} />;
}

function ConfirmationDialog({ question: { title, text, settle } }: { readonly question: Question }) {
	const { environment } = openSession();
	const typed = useSignal('');
	const isTyped = !environment.production || typed.value === environment.key;
	return (
		<Dialog title={title} onClose={() => settle(false)}>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					if (isTyped) settle(true);
				}}
			>
				<p>{text}</p>
				{environment.production && (
					<label>
						<span>
							This is production. Type <code>{environment.key}</code> to go on.
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
