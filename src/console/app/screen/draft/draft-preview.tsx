import type { components } from '#management-api';
import { kindWord, operationWords } from '../../../model/change/change-words.js';
import { diffCounts, diffLines } from '../../../model/policy/line-diff.js';
import { DiffView } from '../../part/code/diff-view.js';
import { KeyText } from '../../part/key-text.js';
import { LazyDetails } from '../../part/lazy-details.js';
import { FoldedTable } from '../../part/table/data-table.js';

type Preview = components['schemas']['DraftPreview'];
type File = Preview['policy']['files'][number];

/** Draft preview: changed objects, cascaded deletions, and Rego changes. */
export function DraftPreview({ preview }: { readonly preview: Preview }) {
	const { total, changes, truncated, policy } = preview;
	return (
		<>
			<details class="draft-objects" open={total <= 12}>
				<summary>
					{total === 1 ? '1 object' : `${total.toLocaleString('en')} objects`} will change, including cascading
					deletions
					{truncated && `; showing the first ${changes.length}`}
				</summary>
				<FoldedTable
					caption="Changed objects"
					rows={changes}
					rowKey={({ kind, key, operation }) => `${kind} ${operation} ${key}`}
					columns={[
						{ title: 'Object', cell: ({ kind, key }) => <ObjectText kind={kind} name={key} /> },
						{ title: 'Change', cell: ({ operation }) => operationWords[operation] },
					]}
				/>
			</details>
			<h3>Rego</h3>
			{policy.failure !== null && (
				<p class="failure" role="alert">
					{policy.failure}
				</p>
			)}
			{policy.diagnostics.length > 0 && (
				<ul class="draft-findings">
					{policy.diagnostics.map(({ code, message, at, severity }, index) => (
						<li key={index}>
							<span class={severity === 'error' ? 'badge bad' : 'badge warn'}>{severity}</span> {message}{' '}
							<span class="quiet">
								{code} at <KeyText text={at.join('.')} />
							</span>
						</li>
					))}
				</ul>
			)}
			{policy.files.length === 0 && policy.failure === null && (
				<p class="quiet">The Rego does not change. Role permissions and set rules are stored in tables next to it.</p>
			)}
			{policy.files.map((file, index) => (
				<FileDifference key={file.path} file={file} isFirst={index === 0} />
			))}
			{policy.truncated && <p class="quiet">Not all changed files are listed.</p>}
		</>
	);
}

function ObjectText({ kind, name }: { readonly kind: string; readonly name: string }) {
	return (
		<>
			{kindWord(kind)} <KeyText text={name} />
		</>
	);
}

/** Differences within one file. They are computed when the user opens them. */
function FileDifference({
	file: { path, before, after },
	isFirst,
}: {
	readonly file: File;
	readonly isFirst: boolean;
}) {
	const what = before === null ? 'new' : after === null ? 'deleted' : 'changed';
	const summary = (
		<>
			<KeyText text={path} /> <span class="quiet">{what}</span>
		</>
	);
	return (
		<LazyDetails class="draft-objects" isFirst={isFirst} summary={summary}>
			{() => <FileLines path={path} before={before ?? ''} after={after ?? ''} />}
		</LazyDetails>
	);
}

function FileLines({
	path,
	before,
	after,
}: {
	readonly path: string;
	readonly before: string;
	readonly after: string;
}) {
	const hunks = diffLines(before, after);
	const { added, removed } = diffCounts(hunks);
	return (
		<>
			<p class="quiet">
				{added} lines added, {removed} removed
			</p>
			<DiffView hunks={hunks} label={`Differences in ${path}`} />
		</>
	);
}
