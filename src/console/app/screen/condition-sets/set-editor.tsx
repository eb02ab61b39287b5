import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiFailure } from '../../../model/api-failure.js';
import { conditionAttributes, relatedAttributes } from '../../../model/condition/condition-attributes.js';
import { type ConditionSetValue, isSameSet, possibleParents } from '../../../model/condition/condition-set-value.js';
import {
	type ConditionTree,
	problemsByPath,
	readConditions,
	writeConditions,
} from '../../../model/condition/condition-tree.js';
import type { Json } from '../../../model/json.js';
import { management } from '../../api.js';
import { JsonField } from '../../part/field/json-field.js';
import { mayWrite } from '../../session.js';
import { useSideData } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { useSettled } from '../../use-settled.js';
import { ConditionBuilder } from './condition-builder.js';
import { ParameterFields } from './parameter-fields.js';
import type { SetSchema } from './read-schema.js';
import { SetActions } from './set-actions.js';
import { SetFields } from './set-fields.js';
import { SetPreview } from './set-preview.js';
import { SetRego } from './set-rego.js';
import { SetUses } from './set-uses.js';
import { TryBox } from './try-box.js';

interface SetEditorProps {
	/** Key of the set; `null` for a new set. */
	readonly setKey: string | null;
	/** Stored set; `null` if the environment does not contain it. */
	readonly stored: ConditionSetValue | null;
	/** Value with which the editor starts. */
	readonly base: ConditionSetValue;
	readonly schema: SetSchema;
	readonly reload: () => void;
}

/** Objects that the conditions select, keyed by set type. */
const objects = { userset: 'user', resourceset: 'resource', grant: 'grant' } as const;

/** Maximum length of conditions in the URL, in characters. Longer conditions are not stored there. */
const maxAddressLength = 4000;

/** Condition set editor with synchronized rows and JSON, and a preview. */
export function SetEditor({ setKey, stored, base, schema, reload }: SetEditorProps) {
	const search = useSearch();
	const key = useSignal(setKey ?? '');
	const fields = useSignal<Partial<ConditionSetValue>>({});
	const tree = useSignal<ConditionTree | undefined>(readAddress(search.get('conditions')));
	/** JSON text while it is being edited; `null` while the editor shows the rows. */
	const typed = useSignal<string | null>(null);

	/** Schema revision when editing began. The edited value does not include later changes. */
	const begun = useSignal<number | null>(tree.value === undefined ? null : schema.revision);
	const begin = () => {
		begun.value ??= schema.revision;
	};

	const rows = tree.value === undefined ? readConditions(base.conditions) : tree.value;
	const conditions = useMemo(() => writeConditions(rows), [tree.value, base.conditions]);
	const value: ConditionSetValue = { ...base, ...fields.value, conditions };
	const text = JSON.stringify(conditions);
	const address = useSettled(tree.value === undefined ? '' : text);
	useEffect(() => {
		const kept = address.length > maxAddressLength || text === JSON.stringify(base.conditions) ? '' : address;
		if (kept !== search.get('conditions')) search.set({ conditions: kept }, { replace: true });
	}, [address]);

	const attributes = useMemo(
		() => conditionAttributes(schema, value),
		[schema, value.type, value.resource, value.parameters],
	);
	const related = useMemo(() => relatedAttributes(schema), [schema]);
	const question = useSettled(
		JSON.stringify({
			type: value.type,
			conditions,
			...(value.resource === null ? {} : { resource_id: value.resource }),
			...(value.parent === null ? {} : { parent_id: value.parent }),
		}),
	);
	const [tenant, page] = [search.get('tenant'), Number(search.get('page')) || 1];
	const { type } = value;
	const isAskable = type === 'userset' || (type === 'resourceset' && value.resource !== null);
	const preview = useSideData(
		async (signal) => (isAskable ? askPreview(question, { tenant, page }, signal) : null),
		[question, tenant, page, isAskable],
	);
	const problemsFound = preview.failure instanceof ApiFailure ? preview.failure.problems : [];
	const refused = problemsFound.filter(({ type }) => type !== 'needs_decision_point');
	const problems = problemsByPath(rows, refused);
	const shownText = typed.value ?? JSON.stringify(conditions, null, 2);
	const edit = (next: ConditionTree) => {
		begin();
		tree.value = next;
		typed.value = null;
	};
	return (
		<>
			<SetFields
				setKey={key}
				isNew={setKey === null}
				value={value}
				isStored={stored !== null}
				resources={Object.keys(schema.resources).filter((one) => one !== '__user')}
				parents={possibleParents(schema.sets, setKey, value)}
				onChange={(change) => {
					begin();
					fields.value = { ...fields.value, ...change };
				}}
			/>
			{type === 'grant' && (
				<ParameterFields
					parameters={value.parameters ?? {}}
					onParameters={(parameters) => {
						begin();
						fields.value = { ...fields.value, parameters };
					}}
				/>
			)}
			<h2>Conditions</h2>
			<div class="condition-sets-sides">
				<ConditionBuilder
					tree={rows}
					onTree={edit}
					attributes={attributes}
					related={related}
					problems={problems}
					object={objects[type]}
				/>
				<div>
					<JsonField
						label="Conditions as JSON"
						rows={Math.min(30, Math.max(8, shownText.split('\n').length))}
						text={shownText}
						onText={(next) => {
							begin();
							typed.value = next;
							const read = readJson(next);
							if (read !== undefined) tree.value = readConditions(read);
						}}
					/>
					{refused.length > 0 && (
						<ul class="failure condition-sets-problems">
							{refused.map(({ loc, msg }) => (
								<li key={`${loc.join('.')} ${msg}`}>
									<code>{loc.slice(1).join(' › ')}</code>: {msg}
								</li>
							))}
						</ul>
					)}
				</div>
			</div>
			{mayWrite.value && (
				<SetActions
					setKey={setKey ?? key.value}
					stored={stored}
					value={value}
					revision={begun.value ?? schema.revision}
					isChanged={stored === null || !isSameSet(value, stored)}
					problem={typed.value !== null && readJson(typed.value) === undefined ? 'Invalid JSON.' : null}
					onSaved={() => {
						fields.value = {};
						tree.value = undefined;
						typed.value = null;
						begun.value = null;
						reload();
					}}
				/>
			)}
			{type !== 'grant' && (
				<>
					<SetPreview
						type={type}
						isAskable={isAskable}
						hasProblems={refused.length > 0}
						needsDecisionPoint={problemsFound.length > refused.length}
						absent={[type === 'userset' ? 'resource' : 'user', 'context'].filter((object) =>
							text.includes(`"${object}.`),
						)}
						loaded={preview}
						page={page}
					/>
					<TryBox question={question} type={type} resource={value.resource} />
				</>
			)}
			<SetRego setKey={setKey ?? key.value} value={value} stored={stored} />
			{setKey !== null && <SetUses setKey={setKey} type={type} schema={schema} />}
		</>
	);
}

function readJson(text: string): Json | undefined {
	if (text.trim() === '') return {};
	try {
		return JSON.parse(text) as Json;
	} catch {
		return undefined;
	}
}

function readAddress(text: string): ConditionTree | undefined {
	const json = text === '' ? undefined : readJson(text);
	return json === undefined ? undefined : readConditions(json);
}

interface PreviewPlace {
	readonly tenant: string;
	readonly page: number;
}

async function askPreview(question: string, { tenant, page }: PreviewPlace, signal: AbortSignal) {
	const body = { ...JSON.parse(question), ...(tenant === '' ? {} : { tenant }), page, per_page: 20 };
	return management.post('/v2/schema/{proj_id}/{env_id}/condition_sets/preview', { body, signal });
}
