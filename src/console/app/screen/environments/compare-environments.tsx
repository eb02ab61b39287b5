import { type SchemaDifference, schemaDifference } from '../../../model/schema-difference.js';
import { readSchemaOfEnvironment } from '../../other-environment.js';
import { DataTable } from '../../part/data-table.js';
import { Empty } from '../../part/empty.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { openSession } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';
import { EnvironmentChoice } from './environment-choice.js';

/** The most differences that are shown: more is no comparison but another environment. */
const maxShown = 500;

/** What differs between the schema of this environment and that of another one of the project. */
export function CompareEnvironments() {
	const search = useSearch();
	const other = search.get('with');
	return (
		<>
			<h2>Compare</h2>
			<EnvironmentChoice label="With" value={other} onValue={(key) => search.set({ with: key })} />
			{other !== '' && <Differences key={other} other={other} />}
		</>
	);
}

function Differences({ other }: { readonly other: string }) {
	const { project, environment } = openSession();
	const loaded = useLoaded(async () => {
		const [theirs, ours] = await Promise.all([
			readSchemaOfEnvironment(project.key, other),
			readSchemaOfEnvironment(project.key, environment.key),
		]);
		return schemaDifference(theirs, ours);
	}, [other]);
	return (
		<LoadedFrame loaded={loaded}>
			{(differences) =>
				differences.length === 0 ? (
					<Empty title="The schemas are the same" />
				) : (
					<>
						<p>
							{differences.length} differences, as steps from <KeyText text={other} /> to{' '}
							<KeyText text={environment.key} />
							{differences.length > maxShown && `; the first ${maxShown} are shown`}.
						</p>
						<DataTable
							caption="Differences between the schemas"
							rows={differences.slice(0, maxShown)}
							rowKey={({ place }) => place}
							columns={[
								{ title: 'Object', cell: ({ place }) => <KeyText text={place} /> },
								{ title: 'Is', cell: ({ kind }) => kind },
								{ title: `In ${other}`, cell: ({ before }) => <Value value={before} /> },
								{ title: 'Here', cell: ({ after }) => <Value value={after} /> },
							]}
						/>
					</>
				)
			}
		</LoadedFrame>
	);
}

function Value({ value }: { readonly value: SchemaDifference['before'] }) {
	return value === undefined ? <>—</> : <KeyText text={JSON.stringify(value)} />;
}
