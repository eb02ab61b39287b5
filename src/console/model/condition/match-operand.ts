import { isJsonObject, type Json } from '../json.js';

/** Operand of an operator with `match`: a condition on object fields, or on attributes of related instances. */
export interface MatchOperand {
	readonly match: Json;
	/** Resource of the related instances (`fk_resource_type`); `null` for objects. */
	readonly related: string | null;
}

/** Reads an operand. Returns `null` if a form would lose a part of it. */
export function readMatchOperand(operand: Json): MatchOperand | null {
	if (!isJsonObject(operand)) return null;
	const { match, fk_resource_type: related = null, ...others } = operand;
	if (match === undefined || Object.keys(others).length > 0) return null;
	if (typeof related === 'string') return { match, related };
	return Object.hasOwn(operand, 'fk_resource_type') ? null : { match, related: null };
}

export function writeMatchOperand({ match, related }: MatchOperand): Json {
	return related === null ? { match } : { match, fk_resource_type: related };
}
