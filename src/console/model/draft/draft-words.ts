import { kindWord } from '../change/change-words.js';
import { type MemberDifference, recordDifference } from '../change/record-difference.js';
import { isRecord } from '../equal-json.js';
import { conditionPhrases } from '../grant-condition.js';
import { automaticPrefix } from '../matrix/policy-schema.js';
import { type SchemaObjects, schemaKinds, subjectName } from '../matrix/schema-objects.js';
import { phraseText } from '../phrase.js';
import type { Draft, DraftChange } from './draft.js';

/** A change in the draft, in words. */
export interface DraftedChange {
	/** Object kind in words. */
	readonly kind: string;
	/** Object name: its key, or a description if it has no key. */
	readonly name: string;
	readonly operation: DraftChange['operation'];
	/** Differences from the stored object. Empty for a deletion. */
	readonly differences: readonly MemberDifference[];
	/**
	 * True if the stored object already has this state. Always false for facts, because the stored schema does not
	 * contain them.
	 */
	readonly redundant: boolean;
}

/** Describes a draft's changes, compared with the stored schema. */
export function describeDraft(stored: SchemaObjects, draft: Draft): readonly DraftedChange[] {
	return draft.changes.map((change) => describeChange(stored, change));
}

function describeChange(stored: SchemaObjects, change: DraftChange): DraftedChange {
	const { kind, key, operation, value } = change;
	const before = stored.get(subjectName({ kind, key, value }))?.value;
	const named = { kind: kindWord(kind), name: key ?? listedName(kind, value), operation };
	const isSchema = schemaKinds.has(kind);
	if (operation === 'delete') return { ...named, differences: [], redundant: isSchema && before === undefined };
	// The name already contains the whole content.
	if (key === undefined) return { ...named, differences: [], redundant: isSchema && before !== undefined };
	const differences = recordDifference(isRecord(before) ? before : null, isRecord(value) ? value : null);
	return { ...named, differences, redundant: isSchema && before !== undefined && differences.length === 0 };
}

/** Descriptions for objects without a key, keyed by kind. */
const listedNames: Readonly<Partial<Record<string, (value: Named) => string>>> = {
	condition_set_rule: ({ user_set, permission, resource_set }) =>
		`${setName(user_set, 'users with')} may ${permission} on ${setName(resource_set, 'every')}`,
	tenant_user: ({ user, tenant }) => `${user} in ${tenant}`,
	relationship_tuple: ({ subject, relation, object, condition }) =>
		`${subject} ${relation} ${object}${conditionText(condition)}`,
	role_assignment: ({ user, role, tenant, resource_instance, condition }) =>
		`${user} as ${role} ${resource_instance === undefined ? 'in' : 'on'} ${resource_instance ?? tenant}${conditionText(condition)}`,
};

/**
 * Formats a grant's condition with its values, such as " under `up_to_limit` with limit 500"; empty without a
 * condition.
 */
function conditionText(condition: unknown): string {
	if (!isRecord(condition)) return '';
	const values = isRecord(condition['values']) ? condition['values'] : {};
	return ` under ${phraseText(conditionPhrases({ set: String(condition['set']), values }))}`;
}

type Named = Readonly<Partial<Record<string, unknown>>>;

/** Returns the description of an object without a key. */
export function listedName(kind: string, value: unknown): string {
	const name = Object.hasOwn(listedNames, kind) ? listedNames[kind] : undefined;
	return name?.(isRecord(value) ? value : {}) ?? JSON.stringify(value);
}

/** Returns a set's key. For an automatic set, returns its role or resource. */
function setName(set: unknown, automatic: string): string {
	const key = String(set);
	return key.startsWith(automaticPrefix) ? `${automatic} ${key.slice(automaticPrefix.length)}` : key;
}
