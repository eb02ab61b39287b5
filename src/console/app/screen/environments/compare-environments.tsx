import { useSignal } from '@preact/signals';
import { draftSchema } from '../../../model/draft/draft-file.js';
import { type SchemaDifference, schemaDifference } from '../../../model/draft/schema-difference.js';
import { ActionButton } from '../../../part/action-button.js';
import { currentDraft, replaceDraft } from '../../current-draft.js';
import { readSchemaOfEnvironment } from '../../other-environment.js';
import { confirmWrite } from '../../part/confirm.js';
import { Empty } from '../../part/empty.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { FoldedTable } from '../../part/table/data-table.js';
import { readSchema } from '../../read-schema.js';
import { screenPath } from '../../screen-path.js';
import { mayWrite, openSession } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { EnvironmentChoice } from './environment-choice.js';

/** Maximum number of differences to show. A longer list would not be useful. */
const maxShown = 500;
/** Timeout for reading the schema, in milliseconds. */
const readMilliseconds = 30_000;

/** Differences between the schemas of this environment and a second environment in the project. */
export function CompareEnvironments() {
	const search = useSearch();
	const other = search.get('with');
	return (
		<>
			<h2>Compare</h2>
			<EnvironmentChoice label="Compare with" value={other} onValue={(key) => search.set({ with: key })} />
			{other !== '' && <Differences key={other} other={other} />}
		</>
	);
}

function Differences({ other }: { readonly other: string }) {
	const { project, environment } = openSession();
	const loaded = useLoaded(
		async (signal) => {
			const [theirs, ours] = await Promise.all([
				readSchemaOfEnvironment(project.key, other, signal),
				readSchemaOfEnvironment(project.key, environment.key, signal),
			]);
			return { theirs, differences: schemaDifference(theirs, ours) };
		},
		[other],
	);
	return (
		<LoadedFrame loaded={loaded}>
			{({ theirs, differences }) =>
				differences.length === 0 ? (
					<Empty title="The schemas are identical" />
				) : (
					<>
						<p>
							{differences.length} differences between <KeyText text={other} /> and <KeyText text={environment.key} />
							{differences.length > maxShown && `; showing the first ${maxShown}`}.
						</p>
						{mayWrite.value && <DraftDifferences other={other} schema={theirs} />}
						<FoldedTable
							caption="Schema differences"
							rows={differences.slice(0, maxShown)}
							rowKey={({ place }) => place}
							columns={[
								{ title: 'Object', cell: ({ place }) => <KeyText text={place} /> },
								{ title: 'Change', cell: ({ kind }) => kind },
								{ title: `In ${other}`, cell: ({ before }) => <Value value={before} /> },
								{ title: 'In this environment', cell: ({ after }) => <Value value={after} /> },
							]}
						/>
					</>
				)
			}
		</LoadedFrame>
	);
}

interface DraftDifferencesProps {
	readonly other: string;
	/** The schema half of the other environment's document. */
	readonly schema: unknown;
}

/** Creates a draft from the other environment's schema, so users see its impact here before publishing it. */
function DraftDifferences({ other, schema }: DraftDifferencesProps) {
	const said = useSignal<string | null>(null);
	const draft = async () => {
		const { objects, revision } = await readSchema(AbortSignal.timeout(readMilliseconds));
		const made = draftSchema(schema, objects, revision);
		const { length } = made.draft.changes;
		if (length === 0) {
			said.value = `This environment already has everything in ${other}.`;
			return;
		}
		const changes = length === 1 ? '1 change' : `${length} changes`;
		const question = `Replace the current draft with ${changes} from ${other}?`;
		if (currentDraft.value !== null && !(await confirmWrite('Replace draft', question, { always: true }))) return;
		replaceDraft(made.draft);
		said.value = [`Added ${changes} to the draft.`, made.note].filter(Boolean).join(' ');
	};
	return (
		<div class="line">
			<ActionButton act={draft}>
				Draft changes from <KeyText text={other} />
			</ActionButton>
			{said.value !== null && (
				<p role="status">
					{said.value} <a href={screenPath('draft')}>Review the impact</a>
				</p>
			)}
		</div>
	);
}

function Value({ value }: { readonly value: SchemaDifference['before'] }) {
	return value === undefined ? <>—</> : <KeyText text={JSON.stringify(value)} />;
}
