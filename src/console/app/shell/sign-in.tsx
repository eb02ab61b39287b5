import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { readConsolePlace } from '../../model/console-place.js';
import { program } from '../../model/program.js';
import { Announcement } from '../../part/announce.js';
import { bound } from '../../part/setter.js';
import { TextField } from '../../part/text-field.js';
import { KeyText } from '../part/key-text.js';
import { signInByKey } from '../session.js';

/** Sign-in page. `reason` explains why the last session ended or a sign-in failed. */
export function SignIn({ reason }: { readonly reason: string | null }) {
	const key = useSignal('');
	const isBusy = useSignal(false);
	const heading = useRef<HTMLHeadingElement>(null);
	const place = readConsolePlace(location.pathname);
	useLayoutEffect(() => {
		document.title = 'Sign in · Regolith';
		heading.current?.focus();
	}, []);
	const signIn = async () => {
		isBusy.value = true;
		await signInByKey(key.value.trim());
		isBusy.value = false;
	};
	return (
		<main class="sign-in">
			<h1 ref={heading} tabIndex={-1}>
				Regolith console
			</h1>
			<Announcement />
			{reason !== null && (
				<p class="notice" role="alert">
					{reason}
				</p>
			)}
			<form
				onSubmit={(event) => {
					event.preventDefault();
					if (key.value.trim() !== '' && !isBusy.value) void signIn();
				}}
			>
				{place !== null && (
					<p>
						Sign in to the environment <KeyText text={place.environment} /> of the project{' '}
						<KeyText text={place.project} />.
					</p>
				)}
				<TextField
					label="API key"
					type="password"
					name="api-key"
					autocomplete="off"
					spellcheck={false}
					required
					{...bound(key)}
				/>
				<button type="submit" class="primary" aria-disabled={isBusy.value}>
					Sign in
				</button>
			</form>
			<p class="quiet">
				The key is sent to this server once and is not stored in the browser. To sign in without a key, run{' '}
				<code>{program} console</code> on the server and open the printed link.
			</p>
		</main>
	);
}
