import { partStateWords } from '../../../model/schema/part-words.js';
import type { PartState } from '../../../model/schema/schema-part.js';

const marks = { added: 'good', changed: 'warn', removed: 'bad' } as const;

/** A part's state in the draft. Empty for an unchanged part. */
export function PartBadge({ state }: { readonly state: PartState }) {
	return state === null ? null : <span class={`badge ${marks[state]}`}>{partStateWords[state]}</span>;
}
