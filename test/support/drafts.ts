import type { Answer } from './client.js';
import type { Place } from './management.js';

/** JSON object. */
type Json = Readonly<Record<string, unknown>>;

/** A draft change as a client sends it. */
export interface DraftedChange {
	readonly kind: string;
	readonly operation: 'create' | 'update' | 'delete';
	readonly key?: string;
	readonly value?: unknown;
}

/** A change as shown in responses and in the change log. */
export interface ToldChange {
	readonly kind: string;
	readonly operation: string;
	readonly key: string;
	readonly before?: Json | null;
	readonly after?: Json | null;
}

/** Response for an applied draft. */
export interface Applied extends Json {
	readonly revision: number;
	readonly changes: { readonly total: number; readonly counts: Json; readonly changes: readonly ToldChange[] };
}

/** Response for a previewed draft. */
export interface Previewed extends Json {
	readonly base_revision: number;
	readonly revision: number;
	readonly total: number;
	readonly truncated: boolean;
	readonly changes: readonly ToldChange[];
	readonly policy: {
		readonly files: readonly { readonly path: string; readonly before: string | null; readonly after: string | null }[];
		readonly truncated: boolean;
		readonly diagnostics: readonly Json[];
		readonly failure: string | null;
	};
}

/** Returns an environment endpoint's path. The endpoint is outside schema and facts. */
export function environmentPath({ project, key }: Place, rest: string): string {
	return `/v2/projects/${project}/envs/${key}/${rest}`;
}

/** Applies a draft. Its base is the newest revision by default. */
export async function applyDraft(
	place: Place,
	changes: readonly unknown[],
	base_revision?: number,
): Promise<Answer<Applied>> {
	const base = base_revision ?? (await place.revision());
	return place.http.post<Applied>(environmentPath(place, 'drafts/apply'), { base_revision: base, changes });
}

/** Applies a draft that undoes the newest revision's changes. */
export async function undoNewest(place: Place): Promise<Answer<Applied>> {
	const revision = await place.revision();
	const path = environmentPath(place, `changes/${revision}/undo`);
	const { body } = await place.http.post<{ readonly changes: readonly object[] }>(path, {});
	return applyDraft(place, body.changes, revision);
}

/** Previews a draft. Its base is the newest revision by default. */
export async function previewDraft(
	place: Place,
	changes: readonly unknown[],
	base_revision?: number,
): Promise<Answer<Previewed>> {
	const base = base_revision ?? (await place.revision());
	return place.http.post<Previewed>(environmentPath(place, 'drafts/preview'), { base_revision: base, changes });
}

/** Location of each object kind in an environment document. */
const kinds: readonly (readonly [kind: string, half: 'schema' | 'facts', member: string, nested?: string])[] = [
	['resource', 'schema', 'resources'],
	['relation', 'schema', 'resources', 'relations'],
	['action_group', 'schema', 'resources', 'action_groups'],
	['resource_role', 'schema', 'resources', 'roles'],
	['user_attribute', 'schema', 'user_attributes'],
	['role', 'schema', 'roles'],
	['condition_set', 'schema', 'condition_sets'],
	['condition_set_rule', 'schema', 'set_rules'],
	['elements_config', 'schema', 'elements_configs'],
	['check_test', 'schema', 'check_tests'],
	['tenant', 'facts', 'tenants'],
	['user', 'facts', 'users'],
	['tenant_user', 'facts', 'tenant_users'],
	['resource_instance', 'facts', 'resource_instances'],
	['group', 'facts', 'groups'],
	['made_for_groups', 'facts', 'made_for_groups'],
	['relationship_tuple', 'facts', 'relationship_tuples'],
	['role_assignment', 'facts', 'role_assignments'],
	['user_invite', 'facts', 'user_invites'],
];

/** All object kinds in drafts. */
export const draftKinds = kinds.map(([kind]) => kind);

/** Returns the changes that turn an exported document into a second document. */
export function changesBetween(before: Json, after: Json): readonly DraftedChange[] {
	return kinds.flatMap(([kind, ...at]) => {
		const [old, young] = [objectsAt(before, ...at), objectsAt(after, ...at)];
		const gone = [...old].filter(([name]) => !young.has(name));
		return [
			...gone.map(([, object]) => drafted(kind, 'delete', object)),
			...[...young].flatMap(([name, object]) => {
				const held = old.get(name);
				if (held === undefined) return [drafted(kind, 'create', object)];
				return JSON.stringify(held) === JSON.stringify(object) ? [] : [drafted(kind, 'update', object)];
			}),
		];
	});
}

interface NamedObject {
	/** Absent for an object that is identified by its content. */
	readonly key?: string;
	readonly value: unknown;
}

function drafted(kind: string, operation: DraftedChange['operation'], { key, value }: NamedObject): DraftedChange {
	if (key === undefined) return { kind, operation, value };
	return operation === 'delete' ? { kind, operation, key } : { kind, operation, key, value };
}

/** Returns a document's objects of a kind, keyed by identity. A document without the kind has no objects. */
function objectsAt(document: Json, half: string, member: string, nested?: string): ReadonlyMap<string, NamedObject> {
	const held = (document[half] as Json)[member] as Readonly<Record<string, Json>> | readonly Json[] | undefined;
	if (Array.isArray(held)) return new Map(held.map((value) => [identity(value), { value }]));
	const objects = Object.entries((held ?? {}) as Readonly<Record<string, Json>>);
	if (nested !== undefined) {
		const pairs = objects.flatMap(([holder, object]) =>
			Object.entries((object[nested] ?? {}) as Json).map(([key, value]) => [`${holder}:${key}`, value] as const),
		);
		return new Map(pairs.map(([key, value]) => [key, { key, value }]));
	}
	return new Map(objects.map(([key, value]) => [key, { key, value: member === 'resources' ? ownPart(value) : value }]));
}

function ownPart({ relations: _, action_groups: __, roles: ___, ...own }: Json): Json {
	return own;
}

function identity({ expires_at: _, ...named }: Json): string {
	return JSON.stringify(Object.entries(named).sort());
}
