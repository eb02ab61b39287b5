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
	const filter = (name: FilterName) => search.filter(name, { page: '', seen: '' }, { replace: name === 'text' });
	const cleared = Object.fromEntries([...filterNames, 'page', 'seen'].map((name) => [name, '']));
	const isNarrowed = filterNames.some((name) => search.get(name) !== '');
	const isMore = ['actor', 'from', 'to', 'since', 'until'].some((name) => search.get(name) !== '');
	return (
		<search class="changes-filters" aria-label="Filters">
			<form class="columns" onSubmit={(event) => event.preventDefault()}>
				<SearchField label="Object key" placeholder="Filter by key; * is a wildcard" {...filter('text')} />
				<SelectField
					label="Type"
					empty="All"
					options={changeKinds.map((kind) => [kind, kindWord(kind)])}
					{...filter('kind')}
				/>
				<SelectField label="Operation" empty="All" options={operationWords} {...filter('operation')} />
				<LazyDetails class="whole" summary="Author, time and revision" isFirst={isMore}>
					{() => (
						<div class="changes-more">
							<ActorField {...filter('actor')} />
							<RevisionField label="From revision" {...filter('from')} />
							<RevisionField label="To revision" {...filter('to')} />
							<TimeField label="From" {...filter('since')} />
							<TimeField label="To" {...filter('until')} />
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

/** Selection of the API key that made the changes. Offers the key in the URL even if it is not listed. */
function ActorField({ value, onValue }: Omit<FieldProps, 'label'>) {
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
			onValue={onValue}
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
