/** A revision and its lineage. Revisions from different lineages cannot be compared. */
export interface RevisionToken {
	/** Lineage of the revision; `null` for the reader's current lineage. */
	readonly lineage: string | null;
	readonly revision: number;
}

const form = /^(?:([0-9a-f]{16})\.)?(\d{1,15})$/;

/** Returns the revision headers. If there is no lineage, as in older bundles, the headers contain no token. */
export function revisionHeaders(
	revision: number,
	lineage: string | null | undefined,
): Readonly<Record<string, string>> {
	const number = { 'x-revision': String(revision) };
	return lineage ? { ...number, 'x-revision-token': `${lineage}.${revision}` } : number;
}

/** Parses a revision number or a revision token. Returns `null` for any other string. */
export function parseRevision(text: string): RevisionToken | null {
	const [, lineage = null, revision] = form.exec(text) ?? [];
	return revision === undefined ? null : { lineage, revision: Number(revision) };
}

/** Reads the revision from response headers; `null` if there is none. */
export function writtenRevision(header: (name: string) => string | null | undefined): RevisionToken | null {
	return parseRevision(header('x-revision-token') ?? header('x-revision') ?? '');
}
