import { isRecord } from '../equal-json.js';

/** Something that changed since the base of a draft, and that the draft is about. */
export interface StaleObject {
	/** The index of the change of the draft that it is in the way of; -1 where that is not told. */
	readonly index: number;
	readonly kind: string;
	readonly key: string;
	readonly operation: string;
	readonly revision: number;
	/** Who changed it; `null` for the server itself. */
	readonly actor: string | null;
}

/** Why a draft is refused that others have overtaken. */
export interface StaleDraft {
	/** The newest revision: what to look at before the draft is based on it. */
	readonly revision: number;
	/** Empty where too much has changed to tell what. */
	readonly objects: readonly StaleObject[];
}

/** Reads `additional_info` of a refused draft; `null` where it was refused for another reason. */
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
