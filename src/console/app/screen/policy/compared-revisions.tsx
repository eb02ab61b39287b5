import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { diffLines } from '../../../model/policy/line-diff.js';
import { type ChangedFile, changedFiles, policyPart } from '../../../model/policy/policy-files.js';
import { SelectField } from '../../../part/select-field.js';
import { DiffView } from '../../part/code/diff-view.js';
import { Empty } from '../../part/empty.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { FoldedRows } from '../../part/table/folded-rows.js';
import { screenPath } from '../../screen-path.js';
import { newestRevision } from '../../session.js';
import { useLoaded, useSideData } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { readPolicies, readPolicy } from './read-policies.js';

/** Differences between two revisions' policies. Tables and rules are listed separately. */
export function ComparedRevisions() {
	const search = useSearch();
	const listed = useLoaded((signal) => readPolicies(1, signal), [newestRevision.value]);
	return (
		<LoadedFrame loaded={listed}>
			{({ data }) => {
				const revisions = data.map(({ schema_revision }) => schema_revision);
				const to = search.get('to') || String(revisions[0] ?? '');
				const from = search.get('from') || String(revisions.find((one) => one < Number(to)) ?? '');
				return (
					<>
						<div class="line">
							<RevisionSelect
								label="From"
								value={from}
								revisions={revisions}
								onChange={(next) => search.set({ from: next })}
							/>
							<RevisionSelect
								label="to"
								value={to}
								revisions={revisions}
								onChange={(next) => search.set({ to: next })}
							/>
							<a href={screenPath('changes', { from: String(Number(from) + 1), to })}>View changes</a>
						</div>
						{from === '' || to === '' ? (
							<Empty
								title="Nothing to compare yet"
								docs={{ page: 'policy/policy#compare-policies', title: 'Compare policies' }}
							>
								<p>Each schema change publishes a policy. Publish two policies to compare them.</p>
							</Empty>
						) : (
							<Differences from={from} to={to} />
						)}
					</>
				);
			}}
		</LoadedFrame>
	);
}

interface RevisionSelectProps {
	readonly label: string;
	readonly value: string;
	readonly revisions: readonly number[];
	readonly onChange: (revision: string) => void;
}

function RevisionSelect({ label, value, revisions, onChange }: RevisionSelectProps) {
	const texts = revisions.map(String);
	const offered = value === '' || texts.includes(value) ? texts : [value, ...texts];
	return <SelectField inline label={label} value={value} options={offered} onValue={onChange} />;
}

const parts = [
	['rules', 'Rules'],
	['tables', 'Tables'],
	['tests', 'Generated tests'],
] as const;

function Differences({ from, to }: { readonly from: string; readonly to: string }) {
	const loaded = useSideData(
		async (signal) => {
			const [before, after] = await Promise.all([readPolicy(from, signal), readPolicy(to, signal)]);
			return changedFiles(before.files, after.files);
		},
		[from, to],
	);
	return (
		<LoadedFrame loaded={loaded}>
			{(files) =>
				files.length === 0 ? (
					<Empty title="The policies are identical" />
				) : (
					parts.map(([part, title]) => {
						const own = files.filter(({ path }) => policyPart(path) === part);
						return (
							own.length > 0 && (
								<section key={part}>
									<h2>
										{title}: {own.length === 1 ? '1 file' : `${own.length} files`}
									</h2>
									<FileList files={own} isOpen={part !== 'tests'} from={from} to={to} />
								</section>
							)
						);
					})
				)
			}
		</LoadedFrame>
	);
}

/** Number of files to list first. */
const filesAtOnce = 100;
/** Maximum number of changed lines in an initially open file, and maximum number of open files. */
const [openLines, openFiles] = [200, 10];

interface FileListProps {
	readonly files: readonly ChangedFile[];
	/** True if short files are open initially. */
	readonly isOpen: boolean;
	readonly from: string;
	readonly to: string;
}

function FileList({ files, isOpen, from, to }: FileListProps) {
	return (
		<FoldedRows rows={files} atOnce={filesAtOnce}>
			{(shown) =>
				shown.map((file, index) => (
					<FileDifference
						key={`${from} ${to} ${file.path}`}
						file={file}
						isOpen={isOpen && index < openFiles && isShort(file)}
					/>
				))
			}
		</FoldedRows>
	);
}

function isShort({ before, after, added, removed }: ChangedFile): boolean {
	const lines = added + removed;
	return before !== null && after !== null && lines > 0 && lines <= openLines;
}

function FileDifference({ file, isOpen: isFirst }: { readonly file: ChangedFile; readonly isOpen: boolean }) {
	const isOpen = useSignal(isFirst);
	const { path, before, after, added, removed } = file;
	const state = before === null ? 'new' : after === null ? 'deleted' : null;
	return (
		<details
			class="policy-difference"
			open={isOpen.value}
			onToggle={(event) => {
				isOpen.value = event.currentTarget.open;
			}}
		>
			<summary>
				<code>{path}</code> {state !== null && <span class="badge">{state}</span>}{' '}
				{added + removed > 0 && (
					<span class="quiet">
						<span class="state good">+{added}</span> <span class="state bad">−{removed}</span>
					</span>
				)}
			</summary>
			{isOpen.value && <Hunks path={path} before={before ?? ''} after={after ?? ''} />}
		</details>
	);
}

function Hunks({ path, before, after }: { readonly path: string; readonly before: string; readonly after: string }) {
	const hunks = useMemo(() => diffLines(before, after), [before, after]);
	return <DiffView hunks={hunks} label={`Differences in ${path}`} />;
}
