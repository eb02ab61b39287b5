/** Documentation page that helps with the next step. */
export interface DocumentationPage {
	/** Path below `docs` without its ending, with the heading's anchor: `policy/console#check-and-why`. */
	readonly page: string;
	/** Page or heading title. */
	readonly title: string;
}

/** Returns the address of a documentation page on the same server; the start page for an empty string. */
export function documentationPath(page: string): string {
	return page === '' ? '/documentation' : `/documentation/${page}`;
}
