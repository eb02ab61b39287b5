/** Authors and changes between two published policies. */

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

/** Members of a change used by summaries. */
export interface RevisionChange {
	readonly revision: number;
	readonly operation: 'create' | 'update' | 'delete';
	/** `null` for the server itself. */
	readonly actor: { readonly id: string; readonly name: string | null } | null;
}

/** Schema changes in one published policy. */
export interface RevisionSummary {
	/** Distinct authors: a name, or an id without a name. */
	readonly authors: readonly string[];
	readonly created: number;
	readonly updated: number;
	readonly deleted: number;
}

/**
 * Summarizes each published policy's changes since the previous policy. `revisions` are the schema revisions, newest
 * first. `changes` are the newest changes up to the first revision. A summary is `null` if it is unknown: for the last
 * policy, unless `isLast` means that no earlier policy exists, and if `changes` do not go back far enough.
 */
export function summariseRevisions(
	revisions: readonly number[],
	changes: readonly RevisionChange[],
	{ isLast, isComplete }: { readonly isLast: boolean; readonly isComplete: boolean },
): readonly (RevisionSummary | null)[] {
	const oldest = isComplete ? 0 : Math.min(...changes.map(({ revision }) => revision), Number.POSITIVE_INFINITY);
	return revisions.map((revision, index) => {
		const before = revisions[index + 1] ?? (isLast ? 0 : null);
		// Some changes in the oldest read revision may be missing.
		if (before === null || before < oldest) return null;
		const own = changes.filter((change) => change.revision > before && change.revision <= revision);
		const count = (wanted: RevisionChange['operation']) => own.filter(({ operation }) => operation === wanted).length;
		return {
			authors: [...new Set(own.map(({ actor }) => (actor === null ? 'the server' : (actor.name ?? actor.id))))],
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
		[updated, 'changed'],
		[deleted, 'deleted'],
	] as const;
	const told = said.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
	return told.length === 0 ? 'nothing of the schema' : told.join(', ');
}
