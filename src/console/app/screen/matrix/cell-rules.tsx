import { useId } from 'preact/hooks';
import { toggleRule } from '../../../model/matrix/matrix-edit.js';
import { resourceSetPhrases } from '../../../model/matrix/matrix-words.js';
import type { MatrixAction } from '../../../model/matrix/policy-matrix.js';
import { automaticPrefix } from '../../../model/matrix/policy-schema.js';
import { editDraft } from '../../current-draft.js';
import { PhraseText } from '../../part/phrase-text.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite } from '../../session.js';
import type { PanelProps } from './panel-props.js';

/** Rules that allow an action for a user set or a role, on a whole resource or on resource sets. */
export function CellRules({ place, column, matrix, objects, revision }: PanelProps & { readonly place: MatrixAction }) {
	const id = useId();
	const user_set = column.kind === 'role' ? automaticPrefix + column.key : column.key;
	const permission = `${place.resource}:${place.action}`;
	const { resourceSets, rules } = matrix.schema;
	const sets = [...resourceSets.values()].filter(({ resource }) => resource === place.resource).map(({ key }) => key);
	const made = new Set(
		rules
			.filter((rule) => rule.user_set === user_set && rule.permission === permission)
			.map((rule) => rule.resource_set),
	);
	if (!mayWrite.value && made.size === 0) return null;
	const all = [automaticPrefix + place.resource, ...sets];
	const shown = mayWrite.value ? all : all.filter((set) => made.has(set));
	return (
		<fieldset class="matrix-rules" aria-describedby={sets.length === 0 ? id : undefined}>
			<legend>Granted by rule on</legend>
			<div class="matrix-rule-list">
				{shown.map((resource_set) => (
					<label key={resource_set} class="inline">
						<input
							type="checkbox"
							checked={made.has(resource_set)}
							disabled={!mayWrite.value}
							onChange={() =>
								editDraft(revision, (draft) => toggleRule(objects, draft, { user_set, permission, resource_set }))
							}
						/>
						<span>
							<PhraseText phrases={resourceSetPhrases({ resource_set })} />
						</span>
						{!resource_set.startsWith(automaticPrefix) && (
							<a href={screenPath(`condition-sets/${resource_set}`)} aria-label={`View condition set ${resource_set}`}>
								View
							</a>
						)}
					</label>
				))}
			</div>
			{sets.length === 0 && (
				<p id={id} class="quiet">
					{place.resource} has no resource sets. <a href={screenPath('condition-sets')}>Create a resource set</a> to
					limit the rule to some instances.
				</p>
			)}
		</fieldset>
	);
}
