import { Failure, unprocessable } from '../failure.js';
import { type LoggedEntry, type LoggedName, loggedSince } from '../store/history/logged-since.js';
import type { ReadingUnit } from '../store/unit/reading-unit.js';
import type { Draft } from '../wire/general/draft.js';
import { type LoggedNames, loggedNames } from './logged-names.js';

/** Maximum number of conflicts in a failure. */
const maxConflicts = 20;

/** An object that changed after the draft's base revision. */
interface Conflict extends Pick<LoggedEntry, 'kind' | 'key' | 'revision' | 'operation'> {
	/** Location in the draft. */
	readonly at: string;
	/** Author of the change; `null` for the server. */
	readonly actor: { readonly id: string; readonly name: string | null } | null;
}

/**
 * Rejects a draft if any object in it changed after the base revision, directly or by cascade. A change that was
 * reverted later is also a conflict. Throws `conflict` with the changed objects, and `unprocessable` for a base
 * revision in the future.
 */
export async function refuseStaleDraft(unit: ReadingUnit, { base_revision, changes }: Draft): Promise<void> {
	const { revision } = await unit.counters();
	if (base_revision > revision) {
		const msg = `must be at most the environment's revision ${revision}, got \`${base_revision}\``;
		throw unprocessable([{ loc: ['body', 'base_revision'], msg, type: 'value_error' }]);
	}
	if (base_revision === revision) return;
	const wanted = changes.map(loggedNames);
	const logged = await loggedSince(unit, base_revision, {
		objects: wanted.flatMap(({ objects }) => objects),
		within: wanted.flatMap(({ within }) => within),
		deleted: wanted.flatMap(({ deleted }) => deleted),
	});
	if (logged === null) {
		const message = `too many changes since revision ${base_revision} to list conflicts: base the draft on revision ${revision}`;
		throw new Failure('conflict', message, { revision, conflicts: [] });
	}
	const conflicts = findConflicts(wanted, logged);
	if (conflicts.length === 0) return;
	const named = conflicts.slice(0, 3).map(({ kind, key }) => `the ${kind} \`${key}\``);
	const more = conflicts.length > named.length ? ` and ${conflicts.length - named.length} more` : '';
	const message = `changed since revision ${base_revision}: ${named.join(', ')}${more}`;
	throw new Failure('conflict', message, { revision, conflicts: conflicts.slice(0, maxConflicts) });
}

/**
 * Returns the conflicts, newest first. For each draft change and conflicting object, there is a single conflict: the
 * object's last log entry.
 */
function findConflicts(wanted: readonly LoggedNames[], logged: readonly LoggedEntry[]): readonly Conflict[] {
	const found = new Map<string, Conflict>();
	const indexes = indexNames(wanted);
	for (const entry of logged) {
		for (const index of indexes(entry)) {
			if (wanted[index]?.isAbout(entry) !== true) continue;
			const { kind, key, revision, operation, actor_id, actor_name } = entry;
			const identity = `${index} ${kind} ${key}`;
			if (found.has(identity)) continue;
			const actor = actor_id === null ? null : { id: actor_id, name: actor_name };
			found.set(identity, { at: `changes.${index}`, kind, key, revision, operation, actor });
		}
	}
	return [...found.values()];
}

/** Returns a function to find the draft changes that a log entry may affect, by index. */
function indexNames(wanted: readonly LoggedNames[]): (entry: LoggedEntry) => Iterable<number> {
	const indexes = new Map<string, Set<number>>();
	const add = (name: string, index: number) => indexes.set(name, (indexes.get(name) ?? new Set()).add(index));
	const objectName = ({ kind, key }: LoggedName) => `object ${kind} ${key}`;
	for (const [index, { objects, within, deleted }] of wanted.entries()) {
		for (const name of objects) add(objectName(name), index);
		for (const { kind, resource } of within) add(`within ${kind} ${resource}`, index);
		for (const name of deleted) add(`deleted ${objectName(name)}`, index);
	}
	return (entry) => {
		const [resource = ''] = entry.key.split(':');
		const names = [objectName(entry), `within ${entry.kind} ${resource}`];
		if (entry.operation === 'delete') names.push(`deleted ${objectName(entry)}`);
		return new Set(names.flatMap((name) => [...(indexes.get(name) ?? [])]));
	};
}
