/** Who changed what from one published policy to the next. */

/** The kinds of objects that policies are made from, as the change log names them. */
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

/** What is read of a change. */
export interface RevisionChange {
	readonly revision: number;
	readonly operation: 'create' | 'update' | 'delete';
	/** `null` for the server itself. */
	readonly actor: { readonly id: string; readonly name: string | null } | null;
}

/** What became of the schema under one published policy. */
export interface RevisionSummary {
	/** Each author once: a name, or else an id. */
	readonly authors: readonly string[];
	readonly created: number;
	readonly updated: number;
	readonly deleted: number;
}

/**
 * What each published policy changed since the one before it. `revisions` are those of their schemas, the newest first,
 * and `changes` the newest up to the first of these. `null` where that cannot be told: of the last of the policies,
 * unless `isLast` says that there was none before, and where `changes` do not reach back so far.
 */
export function summariseRevisions(
	revisions: readonly number[],
	changes: readonly RevisionChange[],
	{ isLast, isComplete }: { readonly isLast: boolean; readonly isComplete: boolean },
): readonly (RevisionSummary | null)[] {
	const oldest = isComplete ? 0 : Math.min(...changes.map(({ revision }) => revision), Number.POSITIVE_INFINITY);
	return revisions.map((revision, index) => {
		const before = revisions[index + 1] ?? (isLast ? 0 : null);
		// Of the oldest revision that was read, some changes may be missing.
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

/** A summary in words, such as `2 created, 1 deleted`. */
export function summaryText({ created, updated, deleted }: RevisionSummary): string {
	const said = [
		[created, 'created'],
		[updated, 'changed'],
		[deleted, 'deleted'],
	] as const;
	const told = said.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
	return told.length === 0 ? 'nothing of the schema' : told.join(', ');
}
