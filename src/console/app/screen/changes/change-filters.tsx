import { changeKinds, kindWord, operationWords } from '../../../model/change/change-words.js';
import { Button } from '../../../part/button.js';
import { SelectField } from '../../../part/select-field.js';
import { management } from '../../api.js';
import { SearchField } from '../../part/field/search-field.js';
import { LazyDetails } from '../../part/lazy-details.js';
import { useSideData } from '../../use-loaded.js';
import type { Search } from '../../use-search.js';

/** URL parameters that filter the list. */
export const filterNames = ['kind', 'operation', 'text', 'actor', 'from', 'to', 'since', 'until'] as const;

type FilterName = (typeof filterNames)[number];

/** Filters for the change list. All are stored in the address. */
export function ChangeFilters({ search }: { readonly search: Search }) {
	const set = (name: FilterName, value: string) =>
		search.set({ [name]: value, page: '', seen: '' }, { replace: name === 'text' });
	const cleared = Object.fromEntries([...filterNames, 'page', 'seen'].map((name) => [name, '']));
	const isNarrowed = filterNames.some((name) => search.get(name) !== '');
	const isMore = ['actor', 'from', 'to', 'since', 'until'].some((name) => search.get(name) !== '');
	return (
		<search class="changes-filters" aria-label="Filters">
			<form class="columns" onSubmit={(event) => event.preventDefault()}>
				<SearchField
					label="Object key"
					value={search.get('text')}
					placeholder="Filter by key; * is a wildcard"
					onSearch={(text) => set('text', text)}
				/>
				<SelectField
					label="Type"
					value={search.get('kind')}
					empty="All"
					options={changeKinds.map((kind) => [kind, kindWord(kind)])}
					onValue={(value) => set('kind', value)}
				/>
				<SelectField
					label="Operation"
					value={search.get('operation')}
					empty="All"
					options={operationWords}
					onValue={(value) => set('operation', value)}
				/>
				<LazyDetails class="whole" summary="Author, time and revision" isFirst={isMore}>
					{() => (
						<div class="changes-more">
							<ActorField value={search.get('actor')} onChoose={(id) => set('actor', id)} />
							<RevisionField label="From revision" value={search.get('from')} onValue={(value) => set('from', value)} />
							<RevisionField label="To revision" value={search.get('to')} onValue={(value) => set('to', value)} />
							<TimeField label="From" value={search.get('since')} onValue={(value) => set('since', value)} />
							<TimeField label="To" value={search.get('until')} onValue={(value) => set('until', value)} />
						</div>
					)}
				</LazyDetails>
			</form>
			{isNarrowed && <Button onClick={() => search.set(cleared)}>Clear filters</Button>}
		</search>
	);
}

interface FieldProps {
	readonly label: string;
	readonly value: string;
	readonly onValue: (value: string) => void;
}

function RevisionField({ label, value, onValue }: FieldProps) {
	return (
		<label>
			<span>{label}</span>
			<input
				type="text"
				inputMode="numeric"
				pattern="\d{1,15}"
				value={value}
				autocomplete="off"
				onChange={(event) => onValue(event.currentTarget.value)}
			/>
		</label>
	);
}

function TimeField({ label, value, onValue }: FieldProps) {
	return (
		<label>
			<span>{label}</span>
			<input type="datetime-local" value={value} onChange={(event) => onValue(event.currentTarget.value)} />
		</label>
	);
}

/** Selection of the API key that made the changes. It also offers a key that only the URL contains. */
function ActorField({ value, onChoose }: { readonly value: string; readonly onChoose: (id: string) => void }) {
	const { value: keys } = useSideData(
		(signal) => management.get('/v2/api-key', { query: { per_page: 100 }, signal }),
		[],
	);
	const listed = keys?.data ?? [];
	return (
		<SelectField
			label="API key"
			value={value}
			empty="All"
			options={[
				...(value === '' || listed.some(({ id }) => id === value) ? [] : [value]),
				...listed.map((key) => [key.id, keyText(key)] as const),
			]}
			onValue={onChoose}
		/>
	);
}

interface ListedKey {
	readonly id: string;
	readonly name: string | null;
	readonly env: { readonly key: string } | null;
}

function keyText({ id, name, env }: ListedKey): string {
	return `${name ?? 'unnamed'} ${env === null ? '' : `(${env.key})`} ${id.slice(-6)}`;
}
