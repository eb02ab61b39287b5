import type { LoggedChange } from './logged-change.js';
import { schemaKinds } from './revision-changes.js';

/** How changes of the log are told to people. */

/** The kinds of objects in the log, in the order in which they are offered. */
export const changeKinds = [
	...schemaKinds,
	'user',
	'tenant',
	'tenant_user',
	'role_assignment',
	'resource_instance',
	'relationship_tuple',
	'group',
	'user_invite',
	'elements_config',
	'element_request',
	'proxy_config',
	'pdp_config',
	'environment',
] as const;

/** A kind of object in the log. */
export type ChangeKind = (typeof changeKinds)[number];

/** What can happen to an object, with its word. */
export const operationWords = { create: 'created', update: 'changed', delete: 'deleted' } as const;

const kindWords: Readonly<Partial<Record<string, string>>> = {
	resource_action: 'action',
	resource_attribute: 'attribute',
	condition_set_rule: 'rule',
	tenant_user: 'member of a tenant',
	relationship_tuple: 'relationship',
	user_invite: 'invite',
	elements_config: 'element',
	element_request: 'request',
	pdp_config: 'key of a decision point',
};

/** What a kind of object is called. */
export function kindWord(kind: string): string {
	return (Object.hasOwn(kindWords, kind) ? kindWords[kind] : undefined) ?? kind.replaceAll('_', ' ');
}

/** Whether a text is a kind of the log. */
export function isChangeKind(text: string): text is ChangeKind {
	return changeKinds.some((kind) => kind === text);
}

/** Whether a text is an operation of the log. */
export function isChangeOperation(text: string): text is LoggedChange['operation'] {
	return Object.hasOwn(operationWords, text);
}

/** Changes that follow each other, by the revision that they share. */
export function groupByRevision<Change extends { readonly revision: number }>(
	changes: readonly Change[],
): readonly (readonly Change[])[] {
	const groups: Change[][] = [];
	for (const change of changes) {
		const newest = groups.at(-1);
		if (newest?.[0]?.revision === change.revision) newest.push(change);
		else groups.push([change]);
	}
	return groups;
}
