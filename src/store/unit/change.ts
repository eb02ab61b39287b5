import type { ChangeKind } from '../../wire/general/change.js';

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
 * The net effect of changes, each object once: from what it was before the first to what it is after the last. What was
 * both created and deleted is left out. They are merged as they come, because at the end there may be a million.
 */
export class NetChanges {
	readonly #objects = new Map<string, Change>();

	/** Adds a change that follows all others. */
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

	/** The changes that are left, in the order in which their objects were first changed. */
	list(): readonly Change[] {
		return [...this.#objects.values()].filter(({ before, after }) => before !== null || after !== null);
	}
}
