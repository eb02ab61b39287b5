import { useEffect } from 'preact/hooks';
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso';
import { readConsolePlace } from '../../model/console-place.js';
import { Announcement } from '../../part/announce.js';
import { Confirmation } from '../part/confirm.js';
import { Screen } from '../part/screen.js';
import { screenPath } from '../screen-path.js';
import { openSession } from '../session.js';
import { Navigation } from './navigation.js';
import { StatusBar } from './status-bar.js';

/** Screens, by the first step of their paths. Each is loaded on first use. */
const screens = {
	check: lazy(() => import('../screen/check/check-screen.js').then((module) => module.CheckScreen)),
	decisions: lazy(() => import('../screen/decisions/decisions-screen.js').then((module) => module.DecisionsScreen)),
	graph: lazy(() => import('../screen/graph/graph-screen.js').then((module) => module.GraphScreen)),
	model: lazy(() => import('../screen/model/model-screen.js').then((module) => module.ModelScreen)),
	matrix: lazy(() => import('../screen/matrix/matrix-screen.js').then((module) => module.MatrixScreen)),
	'condition-sets': lazy(() =>
		import('../screen/condition-sets/condition-sets-screen.js').then((module) => module.ConditionSetsScreen),
	),
	policy: lazy(() => import('../screen/policy/policy-screen.js').then((module) => module.PolicyScreen)),
	tests: lazy(() => import('../screen/tests/tests-screen.js').then((module) => module.TestsScreen)),
	draft: lazy(() => import('../screen/draft/draft-screen.js').then((module) => module.DraftScreen)),
	directory: lazy(() => import('../screen/directory/directory-screen.js').then((module) => module.DirectoryScreen)),
	requests: lazy(() => import('../screen/requests/requests-screen.js').then((module) => module.RequestsScreen)),
	changes: lazy(() => import('../screen/changes/changes-screen.js').then((module) => module.ChangesScreen)),
	'decision-points': lazy(() =>
		import('../screen/decision-points/decision-points-screen.js').then((module) => module.DecisionPointsScreen),
	),
	keys: lazy(() => import('../screen/keys/keys-screen.js').then((module) => module.KeysScreen)),
	environments: lazy(() =>
		import('../screen/environments/environments-screen.js').then((module) => module.EnvironmentsScreen),
	),
	elements: lazy(() => import('../screen/elements/elements-screen.js').then((module) => module.ElementsScreen)),
} as const;

/** Starts to load the code of the screen in the address, while the session is being read. */
export function preloadScreen(): void {
	const [step = ''] = readConsolePlace(location.pathname)?.screen.split('/') ?? [];
	const screen = Object.entries(screens).find(([name]) => name === step)?.[1];
	// If this fails, the screen itself reports the failure.
	void screen?.preload().catch(() => undefined);
}

/** The console for a signed-in user: the bar, the navigation, and the screen named in the address. */
export function Shell() {
	const { environment } = openSession();
	return (
		<LocationProvider scope="/console">
			<StatusBar />
			<div class={environment.production ? 'frame production' : 'frame'}>
				<details class="menu" open={matchMedia('(min-width: 60rem)').matches}>
					<summary>Screens</summary>
					<Navigation />
				</details>
				<main id="content" tabIndex={-1}>
					<Announcement />
					<ErrorBoundary onError={(error) => console.error(error)}>
						<Router>
							<Route path="/console" component={FirstScreen} />
							<Route path="/console/:project/:environment" component={FirstScreen} />
							{Object.entries(screens).map(([step, screen]) => (
								<Route key={step} path={`/console/:project/:environment/${step}/:rest*`} component={screen} />
							))}
							<Route default component={NotFound} />
						</Router>
					</ErrorBoundary>
				</main>
			</div>
			<Confirmation />
		</LocationProvider>
	);
}

/** Redirects to the first screen. */
function FirstScreen() {
	const { route } = useLocation();
	useEffect(() => route(screenPath('check'), true), []);
	return null;
}

function NotFound() {
	return (
		<Screen title="Page not found">
			<p>
				This page does not exist. <a href={screenPath('check')}>Go to Check and why</a>
			</p>
		</Screen>
	);
}
