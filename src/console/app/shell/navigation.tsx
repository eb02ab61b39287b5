import { useLocation } from 'preact-iso';
import { currentDraft } from '../current-draft.js';
import { screenPath } from '../screen-path.js';

/** Screens, listed by navigation group. Each has a title and a path. */
const groups = [
	{
		title: 'Decisions',
		screens: [
			['Check and why', 'check'],
			['Decision log', 'decisions'],
			['Relationship graph', 'graph'],
		],
	},
	{
		title: 'Policy',
		screens: [
			['Model', 'model'],
			['Policy matrix', 'matrix'],
			['Condition sets', 'condition-sets'],
			['Rego and revisions', 'policy'],
			['Tests', 'tests'],
			['Draft and impact', 'draft'],
		],
	},
	{
		title: 'People',
		screens: [
			['Directory', 'directory'],
			['Requests', 'requests'],
			['Changes', 'changes'],
		],
	},
	{
		title: 'Operations',
		screens: [
			['Decision points', 'decision-points'],
			['Keys and members', 'keys'],
			['Environments', 'environments'],
			['Elements', 'elements'],
		],
	},
] as const;

/** Links to all screens. */
export function Navigation() {
	const { path } = useLocation();
	const drafted = currentDraft.value?.changes.length ?? 0;
	return (
		<nav aria-label="Screens">
			{groups.map(({ title, screens }) => (
				<div key={title}>
					<h2>{title}</h2>
					<ul>
						{screens.map(([name, screen]) => {
							const target = screenPath(screen);
							const isHere = path === target || path.startsWith(`${target}/`);
							return (
								<li key={screen}>
									<a href={target} aria-current={isHere ? 'page' : undefined}>
										{name}
										{screen === 'draft' && drafted > 0 && (
											<span class="badge" title={`${drafted} changes in the draft`}>
												{drafted}
											</span>
										)}
									</a>
								</li>
							);
						})}
					</ul>
				</div>
			))}
		</nav>
	);
}
