import type { LoggedChange } from './logged-change.js';
import { schemaKinds } from './revision-changes.js';

/** Texts for changes in the change log. */

/** Object kinds in the change log, in display order. */
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
	'check_test',
	'element_request',
	'proxy_config',
	'pdp_config',
	'environment',
] as const;

/** Object kind in the change log. */
export type ChangeKind = (typeof changeKinds)[number];

export const operationWords = { create: 'created', update: 'updated', delete: 'deleted' } as const;

const kindWords: Readonly<Partial<Record<string, string>>> = {
	resource_action: 'action',
	resource_attribute: 'attribute',
	condition_set_rule: 'rule',
	tenant_user: 'tenant member',
	relationship_tuple: 'relationship',
	user_invite: 'invite',
	elements_config: 'element',
	element_request: 'request',
	pdp_config: 'decision point key',
};

/** Returns the word for an object kind. */
export function kindWord(kind: string): string {
	return (Object.hasOwn(kindWords, kind) ? kindWords[kind] : undefined) ?? kind.replaceAll('_', ' ');
}

export function isChangeKind(text: string): text is ChangeKind {
	return changeKinds.some((kind) => kind === text);
}

export function isChangeOperation(text: string): text is LoggedChange['operation'] {
	return Object.hasOwn(operationWords, text);
}

/** Groups consecutive changes by revision. */
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
