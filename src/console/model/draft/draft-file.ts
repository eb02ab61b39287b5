import { isRecord } from '../equal-json.js';
import { readSchemaObjects, type SchemaObjects, schemaKinds, withObject } from '../matrix/schema-objects.js';
import type { Draft, DraftChange } from './draft.js';

/** Draft read from a file. */
export interface DraftFile {
	readonly draft: Draft;
	/** Message about content that the draft does not include; `null` if the draft is complete. */
	readonly note: string | null;
}

/** `format` value in environment documents. */
const documentFormat = 'regolith-environment';

/** Key of the built-in resource with the user attributes. */
const userResource = '__user';

/**
 * Reads a draft from a file. For an environment document, builds a draft from the differences between the document's
 * schema and the schema stored at `revision`; this draft deletes nothing. The server validates the values. Throws an
 * error with a human-readable message.
 */
export function readDraftFile(text: string, stored: SchemaObjects, revision: number): DraftFile {
	const file: unknown = parseJson(text);
	if (!isRecord(file)) throw new Error('This file is neither a draft nor an environment document.');
	if (file['format'] === documentFormat) return documentDraft(file, stored, revision);
	const { base_revision, changes } = file;
	if (!Array.isArray(changes)) throw new Error('The draft has no `changes` list.');
	if (!Number.isSafeInteger(base_revision) || Number(base_revision) < 0) {
		throw new Error('The draft requires a `base_revision`, the environment revision it is based on.');
	}
	return { draft: { base_revision: Number(base_revision), changes: changes.map(readChange) }, note: null };
}

const factKinds = new Set([
	'tenant',
	'user',
	'tenant_user',
	'resource_instance',
	'group',
	'made_for_groups',
	'relationship_tuple',
	'role_assignment',
	'user_invite',
]);

function isDraftKind(kind: string): boolean {
	return schemaKinds.has(kind) || factKinds.has(kind);
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		throw new Error('This file is not valid JSON.');
	}
}

function readChange(change: unknown, index: number): DraftChange {
	const { kind, operation, key, value } = isRecord(change) ? change : {};
	const at = `\`changes[${index}]\`:`;
	if (typeof kind === 'string' && !isDraftKind(kind)) throw new Error(`${at} unknown \`kind\` ${kind}.`);
	if (typeof kind !== 'string') throw new Error(`${at} \`kind\` is missing.`);
	if (operation !== 'create' && operation !== 'update' && operation !== 'delete') {
		throw new Error(`${at} \`operation\` must be create, update or delete.`);
	}
	if (key !== undefined && key !== null && typeof key !== 'string') throw new Error(`${at} \`key\` must be a string.`);
	const read: { kind: string; operation: typeof operation; key?: string; value?: unknown } = { kind, operation };
	if (typeof key === 'string') read.key = key;
	if (value !== undefined) read.value = value;
	return read;
}

function documentDraft(
	document: Readonly<Record<string, unknown>>,
	stored: SchemaObjects,
	revision: number,
): DraftFile {
	const { draft, note } = draftSchema(document['schema'], stored, revision);
	const notes = [
		...(note === null ? [] : [note]),
		...(document['facts'] === undefined
			? []
			: ['The draft does not include the document’s facts. Import the document to add them.']),
	];
	return { draft, note: notes.length === 0 ? null : notes.join(' ') };
}

/**
 * Builds a draft from the differences between a document's schema half and the schema stored at `revision`. The draft
 * deletes nothing.
 */
export function draftSchema(schema: unknown, stored: SchemaObjects, revision: number): DraftFile {
	const begun: Draft = { base_revision: revision, changes: [] };
	const wanted = readSchemaObjects(schema);
	const draft = [...wanted.values()].reduce((made, object) => withObject(stored, made, object), begun);
	// The user resource always exists, and documents contain it only if it was changed. Its creation is therefore an
	// update.
	const changes = draft.changes.map((change) => (change.key === userResource ? toUpdate(change) : change));
	const left = [...stored.keys()].filter((subject) => !wanted.has(subject)).length;
	const note = left === 0 ? null : keptNote(left);
	return { draft: { ...draft, changes }, note };
}

function keptNote(count: number): string {
	return count === 1
		? '1 object exists only in this environment. The draft keeps it.'
		: `${count} objects exist only in this environment. The draft keeps them.`;
}

function toUpdate(change: DraftChange): DraftChange {
	return change.kind === 'resource' ? { ...change, operation: 'update' } : change;
}
