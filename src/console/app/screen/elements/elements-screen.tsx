import { useRoute } from 'preact-iso';
import { ButtonLink } from '../../part/button-link.js';
import { DraftedObjects } from '../../part/drafted-objects.js';
import { Screen } from '../../part/screen.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { useSearch } from '../../use-search.js';
import { ElementDetail } from './element-detail.js';
import { ElementList } from './element-list.js';
import { EnvironmentOrigins } from './environment-origins.js';

/** The elements screen. The rest of the path names an element, and `new` in the query creates an element. */
export function ElementsScreen() {
	const key = useRoute().params['rest'] ?? '';
	const isNew = useSearch().get('new') !== '';
	if (key !== '') return <ElementDetail key={key} elementKey={key} />;
	if (isNew) return <ElementDetail key="" elementKey={null} />;
	return (
		<Screen
			title="Elements"
			about="Pages embedded in your application, where its users manage, request and review access."
			actions={mayWrite.value && <ButtonLink href={screenPath('elements', { new: 'yes' })}>New element</ButtonLink>}
		>
			<DraftedObjects kind="elements_config" screen="elements" />
			<ElementList />
			<EnvironmentOrigins />
		</Screen>
	);
}
