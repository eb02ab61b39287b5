import { type ModelPlace, modelPath } from '../../../model/schema/model-path.js';
import { KeyText } from '../../part/key-text.js';
import { screenPath } from '../../screen-path.js';
import { type ModelView, rowsOf } from './model-view.js';
import { PartBadge } from './part-badge.js';

/** Links to all model pages. */
export function ModelNavigation({ view, place }: { readonly view: ModelView; readonly place: ModelPlace }) {
	const link = (target: ModelPlace) => ({
		href: screenPath(modelPath(target)),
		'aria-current': JSON.stringify(target) === JSON.stringify(place) ? ('page' as const) : undefined,
	});
	return (
		<nav class="model-navigation" aria-label="Model">
			<ul>
				<li>
					<a {...link({ page: 'roles' })}>Tenant roles</a>
				</li>
				<li>
					<a {...link({ page: 'users' })}>User attributes</a>
				</li>
				<li>
					<a {...link({ page: 'resources' })}>Resources</a>
					<ul>
						{rowsOf(view, 'resource', null).map(({ part: { key }, state }) => (
							<li key={key}>
								<a {...link({ page: 'resource', key })}>
									<KeyText text={key} /> <PartBadge state={state} />
								</a>
							</li>
						))}
					</ul>
				</li>
			</ul>
		</nav>
	);
}
