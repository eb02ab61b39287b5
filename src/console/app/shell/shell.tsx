import { useEffect } from 'preact/hooks';
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso';
import { Announcement } from '../../part/announce.js';
import { Confirmation } from '../part/confirm.js';
import { Screen } from '../part/screen.js';
import { screenPath } from '../screen-path.js';
import { openSession } from '../session.js';
import { Navigation } from './navigation.js';
import { StatusBar } from './status-bar.js';

// Each screen is loaded on first use.
const CheckScreen = lazy(() => import('../screen/check/check-screen.js').then((module) => module.CheckScreen));
const DecisionsScreen = lazy(() =>
	import('../screen/decisions/decisions-screen.js').then((module) => module.DecisionsScreen),
);
const GraphScreen = lazy(() => import('../screen/graph/graph-screen.js').then((module) => module.GraphScreen));
const ModelScreen = lazy(() => import('../screen/model/model-screen.js').then((module) => module.ModelScreen));
const MatrixScreen = lazy(() => import('../screen/matrix/matrix-screen.js').then((module) => module.MatrixScreen));
const ConditionSetsScreen = lazy(() =>
	import('../screen/condition-sets/condition-sets-screen.js').then((module) => module.ConditionSetsScreen),
);
const PolicyScreen = lazy(() => import('../screen/policy/policy-screen.js').then((module) => module.PolicyScreen));
const TestsScreen = lazy(() => import('../screen/tests/tests-screen.js').then((module) => module.TestsScreen));
const DraftScreen = lazy(() => import('../screen/draft/draft-screen.js').then((module) => module.DraftScreen));
const DirectoryScreen = lazy(() =>
	import('../screen/directory/directory-screen.js').then((module) => module.DirectoryScreen),
);
const RequestsScreen = lazy(() =>
	import('../screen/requests/requests-screen.js').then((module) => module.RequestsScreen),
);
const ChangesScreen = lazy(() => import('../screen/changes/changes-screen.js').then((module) => module.ChangesScreen));
const DecisionPointsScreen = lazy(() =>
	import('../screen/decision-points/decision-points-screen.js').then((module) => module.DecisionPointsScreen),
);
const KeysScreen = lazy(() => import('../screen/keys/keys-screen.js').then((module) => module.KeysScreen));
const EnvironmentsScreen = lazy(() =>
	import('../screen/environments/environments-screen.js').then((module) => module.EnvironmentsScreen),
);
const ElementsScreen = lazy(() =>
	import('../screen/elements/elements-screen.js').then((module) => module.ElementsScreen),
);

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
							<Route path="/console/:project/:environment/check/:rest*" component={CheckScreen} />
							<Route path="/console/:project/:environment/decisions/:rest*" component={DecisionsScreen} />
							<Route path="/console/:project/:environment/graph/:rest*" component={GraphScreen} />
							<Route path="/console/:project/:environment/model/:rest*" component={ModelScreen} />
							<Route path="/console/:project/:environment/matrix/:rest*" component={MatrixScreen} />
							<Route path="/console/:project/:environment/condition-sets/:rest*" component={ConditionSetsScreen} />
							<Route path="/console/:project/:environment/policy/:rest*" component={PolicyScreen} />
							<Route path="/console/:project/:environment/tests/:rest*" component={TestsScreen} />
							<Route path="/console/:project/:environment/draft/:rest*" component={DraftScreen} />
							<Route path="/console/:project/:environment/directory/:rest*" component={DirectoryScreen} />
							<Route path="/console/:project/:environment/requests/:rest*" component={RequestsScreen} />
							<Route path="/console/:project/:environment/changes/:rest*" component={ChangesScreen} />
							<Route path="/console/:project/:environment/decision-points/:rest*" component={DecisionPointsScreen} />
							<Route path="/console/:project/:environment/keys/:rest*" component={KeysScreen} />
							<Route path="/console/:project/:environment/environments/:rest*" component={EnvironmentsScreen} />
							<Route path="/console/:project/:environment/elements/:rest*" component={ElementsScreen} />
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
