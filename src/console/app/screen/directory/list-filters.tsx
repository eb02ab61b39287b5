import type { ComponentChildren } from 'preact';
import { Combobox } from '../../part/field/combobox.js';
import { SearchField } from '../../part/field/search-field.js';
import { proposeResources, proposeTenants } from '../../propose.js';
import { useSearch } from '../../use-search.js';

interface ListFiltersProps {
	readonly label: string;
	readonly placeholder: string;
	/** True if the list has tenant and resource filters. */
	readonly placed?: boolean;
	/** Buttons next to the fields. */
	readonly children?: ComponentChildren;
}

/** Filters for directory lists. All are stored in the address. */
export function ListFilters({ label, placeholder, placed = false, children }: ListFiltersProps) {
	const search = useSearch();
	const set = (name: string, value: string) => search.set({ [name]: value, page: '' }, { replace: true });
	return (
		<search aria-label={`Filter ${label}`}>
			<form class="columns directory-filters" onSubmit={(event) => event.preventDefault()}>
				<SearchField
					label="Search"
					value={search.get('text')}
					placeholder={placeholder}
					onSearch={(text) => set('text', text)}
				/>
				{placed && (
					<>
						<Combobox
							label="Tenant"
							value={search.get('tenant')}
							placeholder="All"
							onValue={(value) => set('tenant', value)}
							propose={proposeTenants}
						/>
						<Combobox
							label="Resource"
							value={search.get('resource')}
							placeholder="All"
							onValue={(value) => set('resource', value)}
							propose={proposeResources}
						/>
					</>
				)}
				{children !== undefined && <div class="line">{children}</div>}
			</form>
		</search>
	);
}
