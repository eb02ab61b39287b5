import type { ChangeKind } from '../../wire/change.js';

/** What a write consists of: the typed entries of the change log. Audit, deltas and recompilation all read these. */

export type { ChangeKind };

/** The kinds that the compiled policy depends on: changing one bumps the environment's schema revision. */
export const schemaKinds: ReadonlySet<ChangeKind> = new Set([
	'resource',
	'resource_action',
	'relation',
	'role',
	'condition_set',
	'condition_set_rule',
]);

/** The state of one object before or after a change: its record, with keys beside ids where it refers to others. */
export type ChangedRecord = Readonly<Record<string, unknown>>;

/**
 * One object that was created, changed or deleted under one revision. `before` and `after` are null where there is
 * none.
 */
export interface Change {
	readonly kind: ChangeKind;
	readonly operation: 'create' | 'update' | 'delete';
	/** Names the object for people; programs read the records. */
	readonly key: string;
	readonly before: ChangedRecord | null;
	readonly after: ChangedRecord | null;
}

/**
 * The net effect of several changes, each object once: from what it was before the first to what it is after the last.
 * What was both created and deleted is left out.
 */
export function netChanges(changes: readonly Change[]): readonly Change[] {
	const objects = new Map<string, Change>();
	for (const change of changes) {
		const identity = `${change.kind} ${String((change.after ?? change.before)?.['id'] ?? change.key)}`;
		const { before } = objects.get(identity) ?? change;
		const { after } = change;
		const operation = before === null ? 'create' : after === null ? 'delete' : 'update';
		objects.set(identity, { ...change, operation, before });
	}
	return [...objects.values()].filter(({ before, after }) => before !== null || after !== null);
}
