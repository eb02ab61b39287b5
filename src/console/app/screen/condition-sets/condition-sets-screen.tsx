import { useRoute } from 'preact-iso';
import { ButtonLink } from '../../part/button-link.js';
import { Screen } from '../../part/screen.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { useSearch } from '../../use-search.js';
import { ConditionSetList } from './condition-set-list.js';
import { ConditionSetPage } from './condition-set-page.js';

/** The condition sets screen. The rest of the path names a set, and `new` in the query creates a set. */
export function ConditionSetsScreen() {
	const key = useRoute().params['rest'] ?? '';
	const isNew = useSearch().get('new') !== '';
	if (key !== '') return <ConditionSetPage key={key} setKey={key} />;
	if (isNew) return <ConditionSetPage key="" setKey={null} />;
	return (
		<Screen
			title="Condition sets"
			about="User sets select users and resource sets select resource instances, both by attributes. Rules grant actions to a user set on a resource set. A third type contains conditions for role assignments and relationships."
			actions={mayWrite.value && <ButtonLink href={screenPath('condition-sets', { new: 'yes' })}>New set</ButtonLink>}
		>
			<ConditionSetList />
		</Screen>
	);
}
