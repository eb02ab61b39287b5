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
	const filter = (name: string) => search.filter(name, { page: '' });
	return (
		<search aria-label={`Filter ${label}`}>
			<form class="columns directory-filters" onSubmit={(event) => event.preventDefault()}>
				<SearchField label="Search" placeholder={placeholder} {...filter('text')} />
				{placed && (
					<>
						<Combobox label="Tenant" placeholder="All" {...filter('tenant')} propose={proposeTenants} />
						<Combobox label="Resource" placeholder="All" {...filter('resource')} propose={proposeResources} />
					</>
				)}
				{children !== undefined && <div class="line">{children}</div>}
			</form>
		</search>
	);
}
