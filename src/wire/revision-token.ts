/** A revision with its lineage. Revisions from different lineages cannot be compared. */
export interface RevisionToken {
	/** `null` for the reader's current lineage. */
	readonly lineage: string | null;
	readonly revision: number;
}

const form = /^(?:([0-9a-f]{16})\.)?(\d{1,15})$/;

/** Returns the revision headers. Without a lineage, as in older bundles, there is no token. */
export function revisionHeaders(
	revision: number,
	lineage: string | null | undefined,
): Readonly<Record<string, string>> {
	const number = { 'x-revision': String(revision) };
	return lineage ? { ...number, 'x-revision-token': `${lineage}.${revision}` } : number;
}

/** Reads a revision number or a token; `null` for any other text. */
export function parseRevision(text: string): RevisionToken | null {
	const [, lineage = null, revision] = form.exec(text) ?? [];
	return revision === undefined ? null : { lineage, revision: Number(revision) };
}

/** Reads the revision from response headers; `null` if there is none. */
export function writtenRevision(header: (name: string) => string | null | undefined): RevisionToken | null {
	return parseRevision(header('x-revision-token') ?? header('x-revision') ?? '');
}
