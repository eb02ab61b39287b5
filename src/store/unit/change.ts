import type { ChangeKind } from '../../wire/general/change.js';

/** Kinds of entries in the change log, which feeds audit, deltas and recompilation. */

export type { ChangeKind };

/** Kinds that affect the compiled policy. Changes to them bump the environment's schema revision. */
export const schemaKinds: ReadonlySet<ChangeKind> = new Set([
	'resource',
	'resource_action',
	'relation',
	'role',
	'condition_set',
	'condition_set_rule',
]);

/** State of an object before or after a change: its record, with a key next to each id that it refers to. */
export type ChangedRecord = Readonly<Record<string, unknown>>;

/** An object created, updated or deleted under a revision. `before` is null for a creation, `after` for a deletion. */
export interface Change {
	readonly kind: ChangeKind;
	readonly operation: 'create' | 'update' | 'delete';
	/** Human-readable object name. Programs read the records instead. */
	readonly key: string;
	readonly before: ChangedRecord | null;
	readonly after: ChangedRecord | null;
}

/**
 * Net effect of changes. Contains each object once, with its first `before` and its last `after`. Omits objects that
 * were both created and deleted. Merges changes as they arrive, because a unit may have a million.
 */
export class NetChanges {
	readonly #objects = new Map<string, Change>();

	/** Adds a change. Changes must be added in order. */
	add(change: Change): void {
		const identity = `${change.kind} ${String((change.after ?? change.before)?.['id'] ?? change.key)}`;
		const { before } = this.#objects.get(identity) ?? change;
		const { after } = change;
		const operation = before === null ? 'create' : after === null ? 'delete' : 'update';
		this.#objects.set(
			identity,
			before === change.before && operation === change.operation ? change : { ...change, operation, before },
		);
	}

	/** Returns the net changes, ordered by each object's first change. */
	list(): readonly Change[] {
		return [...this.#objects.values()].filter(({ before, after }) => before !== null || after !== null);
	}
}
