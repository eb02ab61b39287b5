import type { Fold, MatrixRow } from '../../../model/matrix/matrix-view.js';
import { columnWords } from '../../../model/matrix/matrix-words.js';
import type { MatrixColumn } from '../../../model/matrix/policy-matrix.js';
import { Button } from '../../../part/button.js';
import { SelectField } from '../../../part/select-field.js';
import { SearchField } from '../../part/field/search-field.js';
import { type Search, useSearch } from '../../use-search.js';

interface MatrixFiltersProps {
	readonly resources: number;
	readonly fold: Fold;
	readonly shown: { readonly rows: readonly MatrixRow[]; readonly columns: readonly MatrixColumn[] };
}

/** Filters for the matrix. All are stored in the address. */
export function MatrixFilters({ resources, fold, shown: { rows, columns } }: MatrixFiltersProps) {
	const search = useSearch();
	const heads = rows.filter(({ action }) => action === null).length;
	return (
		<search aria-label="Filter">
			<form class="columns matrix-filters" onSubmit={(event) => event.preventDefault()}>
				<SearchField
					label="Resource or action"
					placeholder="document or document:read"
					{...search.filter('resource')}
				/>
				<SearchField label="Role or user set" placeholder="All" {...search.filter('role')} />
				<SelectField label="Columns" empty="All" options={columnWords} {...search.filter('columns')} />
				<div class="line">
					<Button onClick={() => search.set({ fold: fold.all ? '' : 'all', except: '' }, { replace: true })}>
						{fold.all ? 'Expand all' : 'Collapse all'}
					</Button>
				</div>
			</form>
			<p class="quiet" role="status">
				{heads} of {resources} resources, {columns.length} {columns.length === 1 ? 'column' : 'columns'}.
			</p>
		</search>
	);
}

/** Returns the column kind in the URL; `null` for all kinds. */
export function readColumnKind(search: Search): MatrixColumn['kind'] | null {
	const kinds = Object.keys(columnWords) as readonly MatrixColumn['kind'][];
	return kinds.find((kind) => kind === search.get('columns')) ?? null;
}
