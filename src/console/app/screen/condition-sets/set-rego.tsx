import { useSignal } from '@preact/signals';
import { type ConditionSetValue, isSameSet } from '../../../model/condition/condition-set-value.js';
import { withChange } from '../../../model/draft/draft.js';
import { diffLines } from '../../../model/policy/line-diff.js';
import { conditionSetFile } from '../../../model/policy/policy-files.js';
import { Button } from '../../../part/button.js';
import { storing } from '../../../part/setter.js';
import { management } from '../../api.js';
import { currentDraft } from '../../current-draft.js';
import { CodeView } from '../../part/code/code-view.js';
import { DiffView } from '../../part/code/diff-view.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { screenPath } from '../../screen-path.js';
import { newestRevision } from '../../session.js';
import { useSideData } from '../../use-loaded.js';

interface SetRegoProps {
	readonly setKey: string;
	readonly value: ConditionSetValue;
	/** Stored set; `null` if the environment does not contain it. */
	readonly stored: ConditionSetValue | null;
}

/** Rego for a condition set, from the draft or as published. Loaded on demand because compilation takes time. */
export function SetRego(props: SetRegoProps) {
	/** Props when the request was sent; `null` before the first request. */
	const asked = useSignal<SetRegoProps | null>(null);
	const isOfNow = asked.value !== null && isSameQuestion(asked.value, props);
	return (
		<section>
			<h2>Generated Rego</h2>
			{!isOfNow && (
				<Button onClick={storing(asked, props)}>
					{asked.value === null ? 'Show Rego' : 'Show Rego for unsaved conditions'}
				</Button>
			)}
			{asked.value !== null && <ShownRego {...asked.value} />}
		</section>
	);
}

function isSameQuestion(left: SetRegoProps, right: SetRegoProps): boolean {
	return left.setKey === right.setKey && isSameSet(left.value, right.value) && left.stored === right.stored;
}

interface FoundRego {
	/** Path of the published file; `null` if the file is not published. */
	readonly path: string | null;
	readonly before: string | null;
	readonly after: string | null;
	/** Reason why there is no Rego. */
	readonly failure: string | null;
}

function ShownRego({ setKey, value, stored }: SetRegoProps) {
	const question = JSON.stringify([setKey, value]);
	const loaded = useSideData(
		(signal) =>
			stored !== null && isSameSet(value, stored)
				? readPublished(setKey, value, signal)
				: readDrafted(setKey, value, stored, signal),
		[question, stored],
	);
	return (
		<LoadedFrame loaded={loaded}>
			{({ path, before, after, failure }) => (
				<>
					{failure !== null && <p class="failure">{failure}</p>}
					{before !== null && after !== null && before !== after && (
						<DiffView hunks={diffLines(before, after)} label="Rego changes" />
					)}
					{after !== null && before === null && <CodeView text={after} language="rego" label="Generated Rego" />}
					{after === null && failure === null && (
						<p class="quiet">No Rego yet: no rule uses the set, or it is not published.</p>
					)}
					{path !== null && (
						<p>
							<a href={screenPath('policy', { file: path })}>Open in the policy</a>
						</p>
					)}
				</>
			)}
		</LoadedFrame>
	);
}

async function readPublished(key: string, { type }: ConditionSetValue, signal: AbortSignal): Promise<FoundRego> {
	const { files } = await management.get('/v2/projects/{proj_id}/{env_id}/policy', { signal });
	const file = conditionSetFile(files, type, key);
	return { path: file?.path ?? null, before: null, after: file?.text ?? null, failure: null };
}

async function readDrafted(
	key: string,
	value: ConditionSetValue,
	stored: ConditionSetValue | null,
	signal: AbortSignal,
): Promise<FoundRego> {
	const operation = stored === null ? 'create' : 'update';
	const begun = currentDraft.value ?? { base_revision: newestRevision.value, changes: [] };
	const body = withChange(begun, { kind: 'condition_set', operation, key, value });
	const { policy } = await management.post('/v2/projects/{proj_id}/envs/{env_id}/drafts/preview', {
		// The server validates the draft.
		body: body as never,
		signal,
	});
	const texts = policy.files.flatMap(({ path, after }) => (after === null ? [] : [{ path, text: after }]));
	const file = conditionSetFile(texts, value.type, key);
	const before = policy.files.find(({ path }) => path === file?.path)?.before ?? null;
	return { path: null, before, after: file?.text ?? null, failure: policy.failure };
}
