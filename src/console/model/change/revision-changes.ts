/** Change authors and change counts between two published policies. */

/** Object kinds that affect policies, as in the change log. */
export const schemaKinds = [
	'resource',
	'resource_action',
	'resource_attribute',
	'action_group',
	'relation',
	'role',
	'condition_set',
	'condition_set_rule',
] as const;

/** Fields of a change that a summary needs. */
export interface RevisionChange {
	readonly revision: number;
	readonly operation: 'create' | 'update' | 'delete';
	/** Author of the change; `null` for the server itself. */
	readonly actor: { readonly id: string; readonly name: string | null } | null;
}

/** The schema changes in a published policy. */
export interface RevisionSummary {
	/** Distinct authors. Each is a name, or an id if the author has no name. */
	readonly authors: readonly string[];
	readonly created: number;
	readonly updated: number;
	readonly deleted: number;
}

/**
 * Summarizes the changes in each published policy since the policy before it. `revisions` contains the schema
 * revisions, newest first. `changes` contains the newest changes up to the first of these revisions; `isComplete` is
 * true if these are all changes. `isLast` is true if no policy is older than the last revision. A summary is `null` if
 * the changes or the policy before it are unknown.
 */
export function summariseRevisions(
	revisions: readonly number[],
	changes: readonly RevisionChange[],
	{ isLast, isComplete }: { readonly isLast: boolean; readonly isComplete: boolean },
): readonly (RevisionSummary | null)[] {
	const oldest = isComplete ? 0 : Math.min(...changes.map(({ revision }) => revision), Number.POSITIVE_INFINITY);
	return revisions.map((revision, index) => {
		const before = revisions[index + 1] ?? (isLast ? 0 : null);
		// The oldest revision read may be incomplete, so its summary is unknown.
		if (before === null || before < oldest) return null;
		const own = changes.filter((change) => change.revision > before && change.revision <= revision);
		const count = (wanted: RevisionChange['operation']) => own.filter(({ operation }) => operation === wanted).length;
		return {
			authors: [...new Set(own.map(({ actor }) => (actor === null ? 'server' : (actor.name ?? actor.id))))],
			created: count('create'),
			updated: count('update'),
			deleted: count('delete'),
		};
	});
}

/** Formats a summary, such as `2 created, 1 deleted`. */
export function summaryText({ created, updated, deleted }: RevisionSummary): string {
	const said = [
		[created, 'created'],
		[updated, 'updated'],
		[deleted, 'deleted'],
	] as const;
	const told = said.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
	return told.length === 0 ? 'no schema changes' : told.join(', ');
}
