import { useMemo } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { readPolicySchema } from '../../../model/matrix/policy-schema.js';
import { draftedSchema } from '../../../model/schema/drafted-schema.js';
import { type ModelPlace, readModelPath } from '../../../model/schema/model-path.js';
import { partRows, readParts } from '../../../model/schema/schema-part.js';
import { currentDraft } from '../../current-draft.js';
import { DraftNotice } from '../../part/draft-notice.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Screen } from '../../part/screen.js';
import { type ReadSchema, readSchema } from '../../read-schema.js';
import { mayWrite } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { EmptyModel } from './empty-model.js';
import { ModelNavigation } from './model-navigation.js';
import { groupRows, type ModelView, rowsOf } from './model-view.js';
import { PartDialogs } from './part-dialogs.js';
import { PartList } from './part-list.js';
import { ResourcePage } from './resource-page.js';

/** The model screen: resources with their actions, attributes, relations and roles; tenant roles; user attributes. */
export function ModelScreen() {
	const place = readModelPath(useRoute().params['rest'] ?? '');
	const loaded = useLoaded(readSchema, []);
	return (
		<Screen
			title={place.page === 'resource' ? `Resource ${place.key}` : 'Model'}
			about={
				mayWrite.value
					? 'Resources, roles and attributes. Changes go to a draft and take effect when you publish it.'
					: 'Resources, roles and attributes.'
			}
		>
			<LoadedFrame loaded={loaded}>{(schema) => <Model schema={schema} place={place} />}</LoadedFrame>
		</Screen>
	);
}

function Model({ schema: { objects, revision }, place }: { readonly schema: ReadSchema; readonly place: ModelPlace }) {
	const draft = currentDraft.value;
	const view = useMemo((): ModelView => {
		const drafted = draftedSchema(objects, draft);
		const parts = readParts(drafted);
		const rows = groupRows(partRows(readParts(objects), parts));
		return { objects, revision, parts, rows, policy: readPolicySchema(drafted) };
	}, [objects, draft]);
	return (
		<>
			<DraftNotice />
			<div class="model-layout">
				<ModelNavigation view={view} place={place} />
				<div class="model-main">
					<ModelPage view={view} place={place} />
				</div>
			</div>
			{mayWrite.value && <PartDialogs view={view} resource={place.page === 'resource' ? place.key : null} />}
		</>
	);
}

function ModelPage({ view, place }: { readonly view: ModelView; readonly place: ModelPlace }) {
	if (place.page === 'resource') return <ResourcePage view={view} resource={place.key} />;
	if (place.page === 'roles') {
		return (
			<PartList view={view} kind="role" resource={null} title="Tenant roles">
				A tenant role grants actions on every instance in the tenant where a user has the role.
			</PartList>
		);
	}
	if (place.page === 'users') {
		return (
			<PartList view={view} kind="user_attribute" resource={null} title="User attributes">
				Condition sets compare attributes to select users, for example by department.
			</PartList>
		);
	}
	if (rowsOf(view, 'resource', null).length === 0) return <EmptyModel view={view} />;
	return (
		<PartList view={view} kind="resource" resource={null} title="Resources">
			A resource is a type of object in your application, such as a document or a project.
		</PartList>
	);
}
