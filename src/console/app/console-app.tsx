import { render } from 'preact';
import './console.css';
import { keepDraft } from './current-draft.js';
import { beginSession, sessionState } from './session.js';
import { preloadScreen, Shell } from './shell/shell.js';
import { SignIn } from './shell/sign-in.js';

/** The console: shows the sign-in page, or the screens if a user is signed in. */

render(<ConsoleApp />, document.getElementById('app') ?? document.body);
sessionState.subscribe(({ state }) => {
	if (state === 'open') keepDraft();
});
preloadScreen();
void beginSession();

function ConsoleApp() {
	const now = sessionState.value;
	if (now.state === 'opening') return <p class="quiet opening">Loading…</p>;
	if (now.state === 'closed') return <SignIn reason={now.reason} />;
	return <Shell />;
}
