import { kindWord } from '../change/change-words.js';
import { type MemberDifference, recordDifference } from '../change/record-difference.js';
import { isRecord } from '../equal-json.js';
import { automaticPrefix } from '../matrix/policy-schema.js';
import { type SchemaObjects, schemaKinds, subjectName } from '../matrix/schema-objects.js';
import type { Draft, DraftChange } from './draft.js';

/** A change of a draft as it is told to people. */
export interface DraftedChange {
	/** What kind of object it is, in words. */
	readonly kind: string;
	/** What the object is called: its key, or what it says where it has none. */
	readonly name: string;
	readonly operation: DraftChange['operation'];
	/** What becomes different from what is stored; of an object that goes, nothing. */
	readonly differences: readonly MemberDifference[];
	/** Whether what is stored is like this already. Always false for facts, which the schema does not tell. */
	readonly redundant: boolean;
}

/** What a draft changes, against the schema that is stored. */
export function describeDraft(stored: SchemaObjects, draft: Draft): readonly DraftedChange[] {
	return draft.changes.map((change) => describeChange(stored, change));
}

function describeChange(stored: SchemaObjects, change: DraftChange): DraftedChange {
	const { kind, key, operation, value } = change;
	const before = stored.get(subjectName({ kind, key, value }))?.value;
	const named = { kind: kindWord(kind), name: key ?? listedName(kind, value), operation };
	const isSchema = schemaKinds.has(kind);
	if (operation === 'delete') return { ...named, differences: [], redundant: isSchema && before === undefined };
	// What only its content names is told by its name.
	if (key === undefined) return { ...named, differences: [], redundant: isSchema && before !== undefined };
	const differences = recordDifference(isRecord(before) ? before : null, isRecord(value) ? value : null);
	return { ...named, differences, redundant: isSchema && before !== undefined && differences.length === 0 };
}

/** What an object without a key is called, by its kind. */
const listedNames: Readonly<Partial<Record<string, (value: Named) => string>>> = {
	condition_set_rule: ({ user_set, permission, resource_set }) =>
		`${setName(user_set, 'who holds')} may ${permission} on ${setName(resource_set, 'every')}`,
	tenant_user: ({ user, tenant }) => `${user} in ${tenant}`,
	relationship_tuple: ({ subject, relation, object }) => `${subject} ${relation} ${object}`,
	role_assignment: ({ user, role, tenant, resource_instance }) =>
		`${user} as ${role} in ${resource_instance ?? tenant}`,
};

type Named = Readonly<Partial<Record<string, unknown>>>;

function listedName(kind: string, value: unknown): string {
	const name = Object.hasOwn(listedNames, kind) ? listedNames[kind] : undefined;
	return name?.(isRecord(value) ? value : {}) ?? JSON.stringify(value);
}

/** The key of a set; of an automatic one, what it stands for. */
function setName(set: unknown, automatic: string): string {
	const key = String(set);
	return key.startsWith(automaticPrefix) ? `${automatic} ${key.slice(automaticPrefix.length)}` : key;
}
