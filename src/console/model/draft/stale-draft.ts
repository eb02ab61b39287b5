import { isRecord } from '../equal-json.js';

/** Object in the draft that changed after the draft's base revision. */
export interface StaleObject {
	/** Index in the draft's changes; -1 if unknown. */
	readonly index: number;
	readonly kind: string;
	readonly key: string;
	readonly operation: string;
	readonly revision: number;
	/** Author of the newer change; `null` for the server itself. */
	readonly actor: string | null;
}

/** Conflict between a draft and newer changes. */
export interface StaleDraft {
	/** Newest revision. The user should review it before rebasing the draft. */
	readonly revision: number;
	/** Objects in conflict. Empty if there are too many changes to list. */
	readonly objects: readonly StaleObject[];
}

/**
 * Reads the conflict from a rejected draft's `additional_info`. Returns `null` if the draft was rejected for any other
 * reason.
 */
export function readStaleDraft(info: Readonly<Record<string, unknown>>): StaleDraft | null {
	const { revision, conflicts } = info;
	if (typeof revision !== 'number' || !Array.isArray(conflicts)) return null;
	return { revision, objects: conflicts.filter(isRecord).map(readObject) };
}

function readObject({ at, kind, key, operation, revision, actor }: Readonly<Record<string, unknown>>): StaleObject {
	const index = /^changes\.(\d+)$/.exec(String(at))?.[1];
	const { id, name } = isRecord(actor) ? actor : {};
	return {
		index: index === undefined ? -1 : Number(index),
		kind: String(kind),
		key: String(key),
		operation: String(operation),
		revision: Number(revision),
		actor: isRecord(actor) ? String(name ?? id) : null,
	};
}
