import { useEffect } from 'preact/hooks';
import { decisions, decisionTrouble } from '../api.js';
import { apiTrouble, newestRevision, openSession, refreshRevision, seenRevision, signOut } from '../session.js';
import { reloadAll } from '../use-loaded.js';
import { EnvironmentSwitch } from './environment-switch.js';

/** Polling interval for the newest revision while the page is visible, in milliseconds. */
const revisionMilliseconds = 5000;

/** Header on every screen: the environment, its revision, and connection problems. */
export function StatusBar() {
	const { environment, key, decision_point } = openSession();
	useEffect(() => {
		const look = () => {
			if (document.visibilityState !== 'visible') return;
			void refreshRevision();
			// `decisionTrouble` reports failures of this request.
			if (decision_point && decisionTrouble.peek() !== null)
				decisions()
					.GET('/healthy')
					.catch(() => undefined);
		};
		const timer = setInterval(look, revisionMilliseconds);
		document.addEventListener('visibilitychange', look);
		return () => {
			clearInterval(timer);
			document.removeEventListener('visibilitychange', look);
		};
	}, []);
	return (
		<header class={environment.production ? 'bar production' : 'bar'}>
			<a class="home" href="#content">
				Skip to content
			</a>
			<strong class="brand">Regolith</strong>
			<EnvironmentSwitch />
			{environment.production && <span class="badge">production</span>}
			<RevisionText />
			{!['write', 'admin'].includes(key.access_level) && <span class="badge">read only</span>}
			<Trouble text={apiTrouble.value} />
			<Trouble text={decisionTrouble.value} />
			<button type="button" class="end" onClick={() => void signOut()}>
				Sign out
			</button>
		</header>
	);
}

function RevisionText() {
	const [newest, seen] = [newestRevision.value, seenRevision.value];
	if (seen >= newest) return <span class="revision">revision {newest}</span>;
	return (
		<span class="revision" role="status">
			revision {newest}, you see {seen}{' '}
			<button type="button" onClick={reloadAll}>
				Reload
			</button>
		</span>
	);
}

function Trouble({ text }: { readonly text: string | null }) {
	if (text === null) return null;
	return (
		<span class="trouble" role="status">
			{text}
		</span>
	);
}
