import { SelectField } from '../../../part/select-field.js';
import { management } from '../../api.js';
import { DraftedObjects } from '../../part/drafted-objects.js';
import { Empty } from '../../part/empty.js';
import { SearchField } from '../../part/field/search-field.js';
import { KeyLink } from '../../part/key-link.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { NameText } from '../../part/name-text.js';
import { DataTable } from '../../part/table/data-table.js';
import { Pager } from '../../part/table/pager.js';
import { screenPath } from '../../screen-path.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';

/** Condition sets in the environment, in pages. */
export function ConditionSetList() {
	const search = useSearch();
	const [text, type, page] = [search.get('search'), search.get('type'), Number(search.get('page')) || 1];
	const loaded = useLoaded((signal) => readSets({ text, type, page }, signal), [text, type, page]);
	return (
		<>
			<form class="columns" onSubmit={(event) => event.preventDefault()}>
				<SearchField label="Search by key or name" {...search.filter('search', { page: '' })} />
				<SelectField
					label="Type"
					empty="All types"
					options={{ userset: 'User sets', resourceset: 'Resource sets', grant: 'Conditions for grants' }}
					{...search.filter('type', { page: '' }, { replace: false })}
				/>
			</form>
			<DraftedObjects kind="condition_set" screen="condition-sets" />
			<LoadedFrame loaded={loaded}>
				{({ data, total_count, page_count }) =>
					data.length === 0 ? (
						<NoSets isFiltered={text !== '' || type !== ''} />
					) : (
						<>
							<DataTable
								caption="Condition sets"
								rows={data}
								rowKey={({ id }) => id}
								columns={[
									{
										title: 'Key',
										cell: ({ key }) => <KeyLink href={screenPath(`condition-sets/${key}`)} text={key} />,
									},
									{ title: 'Name', cell: ({ name }) => <NameText text={name} /> },
									{
										title: 'Type',
										cell: ({ type, resource }) => (
											<>
												{typeWords(type, resource !== null)}
												{resource !== null && <KeyText text={resource.key} />}
											</>
										),
									},
									{
										title: 'Parent set',
										cell: ({ parent_id }) => {
											const parent = data.find(({ id }) => id === parent_id);
											if (parent !== undefined) return <KeyText text={parent.key} />;
											return parent_id === null ? '' : 'on a different page';
										},
									},
								]}
							/>
							<Pager page={page} list={{ page_count, total_count }} />
						</>
					)
				}
			</LoadedFrame>
		</>
	);
}

function typeWords(type: SetType, hasResource: boolean): string {
	if (type === 'grant') return 'Grants';
	if (type === 'resourceset') return 'Instances of ';
	return hasResource ? 'Users, by roles on ' : 'Users';
}

function NoSets({ isFiltered }: { readonly isFiltered: boolean }) {
	if (isFiltered) return <Empty title="No matching sets" />;
	return (
		<Empty title="No condition sets yet" docs={{ page: 'policy/conditions', title: 'Conditions' }}>
			<p>
				Condition sets select users and resources by their attributes, such as “staff in the same country”. Create a
				set, preview it, then use it in a rule in the <a href={screenPath('matrix')}>policy matrix</a>.
			</p>
		</Empty>
	);
}

type SetType = 'userset' | 'resourceset' | 'grant';

function isSetType(type: string): type is SetType {
	return type === 'userset' || type === 'resourceset' || type === 'grant';
}

interface Asked {
	readonly text: string;
	readonly type: string;
	readonly page: number;
}

async function readSets({ text, type, page }: Asked, signal: AbortSignal) {
	const only = isSetType(type) ? { type } : {};
	const query = { page, include_total_count: true, ...(text === '' ? {} : { search: text }), ...only } as const;
	const found = await management.get('/v2/schema/{proj_id}/{env_id}/condition_sets', { query, signal });
	// If the response has no total, it is a plain array.
	return 'data' in found ? found : { data: found, total_count: found.length, page_count: 1 };
}
