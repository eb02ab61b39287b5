import { useEffect } from 'preact/hooks';
import { documentationPath } from '../../model/documentation-path.js';
import { Button } from '../../part/button.js';
import { decisions, decisionTrouble, shellManagement } from '../api.js';
import { apiTrouble, newestRevision, openSession, refreshRevision, seenRevision, signOut } from '../session.js';
import { reloadAll, useSideData } from '../use-loaded.js';
import { EnvironmentSwitch } from './environment-switch.js';
import { Mark } from './mark.js';

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
			<strong class="brand">
				<Mark />
				<span>Regolith</span>
			</strong>
			<EnvironmentSwitch />
			{environment.production && <span class="badge">production</span>}
			<RevisionText />
			{!['write', 'admin'].includes(key.access_level) && <span class="badge">read only</span>}
			<Trouble text={apiTrouble.value} />
			<Trouble text={decisionTrouble.value} />
			<span class="line end">
				<Version />
				<a href={documentationPath('')}>Documentation</a>
				<a href="/docs">API reference</a>
				<Button class="sign-out" onClick={() => void signOut()}>
					Sign out
				</Button>
			</span>
		</header>
	);
}

/** Version of the server. */
function Version() {
	const { value } = useSideData((signal) => shellManagement.get('/version', { signal }), []);
	return value === null ? null : <span class="quiet">version {value.version}</span>;
}

function RevisionText() {
	const [newest, seen] = [newestRevision.value, seenRevision.value];
	if (seen >= newest) return <span class="revision">revision {newest}</span>;
	return (
		<span class="revision" role="status">
			Viewing revision {seen}. Revision {newest} is available. <Button onClick={reloadAll}>Reload</Button>
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
