import { isRecord } from '../equal-json.js';
import type { SchemaObjects } from '../matrix/schema-objects.js';
import { type Draft, type DraftChange, withChange } from './draft.js';
import { draftSchema } from './draft-file.js';

/** Fact kinds, keyed by their field in a document. */
const keyedFacts = {
	tenants: 'tenant',
	users: 'user',
	resource_instances: 'resource_instance',
	groups: 'group',
	user_invites: 'user_invite',
} as const;

/** Kinds of facts without a key, keyed by their field in a document. */
const listedFacts = {
	tenant_users: 'tenant_user',
	made_for_groups: 'made_for_groups',
	relationship_tuples: 'relationship_tuple',
	role_assignments: 'role_assignment',
} as const;

/** Adds a whole document to a draft, with its facts. The environment must not contain these facts. */
export function withDocument(stored: SchemaObjects, draft: Draft, document: unknown): Draft {
	if (!isRecord(document)) return draft;
	const { changes } = draftSchema(document['schema'], stored, draft.base_revision).draft;
	return [...changes, ...factCreations(document['facts'])].reduce(withChange, draft);
}

function factCreations(facts: unknown): readonly DraftChange[] {
	if (!isRecord(facts)) return [];
	const keyed = Object.entries(keyedFacts).flatMap(([member, kind]) =>
		Object.entries(facts[member] ?? {}).map(([key, value]): DraftChange => ({ kind, operation: 'create', key, value })),
	);
	const listed = Object.entries(listedFacts).flatMap(([member, kind]) => {
		const list = facts[member];
		return Array.isArray(list) ? list.map((value): DraftChange => ({ kind, operation: 'create', value })) : [];
	});
	return [...keyed, ...listed];
}
