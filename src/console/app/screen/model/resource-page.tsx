import { textMember } from '../../../model/matrix/value-members.js';
import { modelPath } from '../../../model/schema/model-path.js';
import { visibleText } from '../../../model/visible-text.js';
import { Empty } from '../../part/empty.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import { type ModelView, rowsOf } from './model-view.js';
import { PartBadge } from './part-badge.js';
import { PartButtons } from './part-buttons.js';
import { PartList } from './part-list.js';

/** A resource with its actions, roles, relations, attributes and action groups. */
export function ResourcePage({ view, resource }: { readonly view: ModelView; readonly resource: string }) {
	const row = rowsOf(view, 'resource', resource)[0];
	if (row === undefined) {
		return (
			<Empty title="No such resource">
				<p>
					The resource {visibleText(resource)} does not exist.{' '}
					<a href={screenPath(modelPath({ page: 'resources' }))}>View all resources</a>
				</p>
			</Empty>
		);
	}
	const { part, state } = row;
	const description = textMember(part.value, 'description');
	const section = { view, resource, editable: state !== 'removed' };
	return (
		<>
			<div class="line model-resource">
				<strong>{visibleText(textMember(part.value, 'name'))}</strong>
				<PartBadge state={state} />
				{mayWrite.value && <PartButtons view={view} part={part} state={state} />}
			</div>
			{description !== '' && <p>{visibleText(description)}</p>}
			<PartList {...section} kind="action" title="Actions">
				Operations that users perform on instances, such as reading.
			</PartList>
			<PartList {...section} kind="relation" title="Relations">
				Links from instances of a resource to instances of this resource, such as a folder to its documents.
			</PartList>
			<PartList {...section} kind="resource_role" title="Roles">
				Roles on single instances: assigned, derived from roles on related instances, or computed.
			</PartList>
			<PartList {...section} kind="attribute" title="Attributes">
				Condition sets compare attributes to select instances, for example by status.
			</PartList>
			<PartList {...section} kind="action_group" title="Action groups">
				Named lists of actions, for use in your application.
			</PartList>
		</>
	);
}
