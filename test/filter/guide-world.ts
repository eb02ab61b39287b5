/** The documents of the guide, and its examples. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Model } from '../../compiler/model.js';
import { acme, resource } from '../pdp/environment.js';
import type { Client } from '../support/client.js';
import { root } from '../support/root.js';

const named = (name: string) => ({ key: name, name, description: null });
const set = {
	...named('everyone'),
	type: 'userset',
	resource: null,
	parent: null,
	selects: { conditions: {} },
} as const;
const conditions = {
	anyOf: [{ 'resource.owner': { equals: { ref: 'user.key' } } }, { 'resource.level': { 'less-than': 3 } }],
};

/** Ann reads her own documents and all documents with a low level, in every tenant. */
export const model: Model = {
	schema: {
		...acme.schema,
		resources: [resource('document', ['read'])],
		roles: [],
		condition_sets: [
			set,
			{ ...named('open'), type: 'resourceset', resource: 'document', parent: null, selects: { conditions } },
		],
		set_rules: [{ user_set: 'everyone', resource_set: 'open', resource: 'document', action: 'read' }],
	},
	facts: { ...acme.facts, users: ['ann'], role_assignments: [], user_attributes: [], instances: [] },
};

export const documents = Array.from({ length: 400 }, (_, index) => ({
	id: `d${index}`,
	tenant_id: ['acme', 'default', 'unknown'][index % 3] ?? '',
	owner_id: ['ann', 'Ann', 'ben', null][index % 4] ?? null,
	level: index % 7,
	archived: index % 5 === 0,
	created_at: `2030-01-01T00:00:00.${String((index * 7) % 400).padStart(3, '0')}Z`,
}));

export type Document = (typeof documents)[number];

/** Returns the keys on a page, if `isAllowed` selects the documents. */
export function rightPage(isAllowed: (document: Document) => boolean, page: number): readonly string[] {
	const sorted = documents.filter((one) => !one.archived && isAllowed(one));
	sorted.sort((one, other) => (one.created_at < other.created_at ? 1 : -1));
	return sorted.slice(50 * page, 50 * page + 50).map(({ id }) => id);
}

/** Loads the examples of the guide, with the library's source. `change` adapts their code. */
export async function loadExamples(
	change = (code: string) => code,
): Promise<readonly Record<string, (...given: never[]) => never>[]> {
	const guide = await readFile(join(root, 'docs/develop/filters.md'), 'utf8');
	const library = pathToFileURL(join(root, 'dist/packages/engine/src/filter.js')).href;
	const blocks = [...guide.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code);
	return Promise.all(
		blocks.map(
			(code) => import(`data:text/javascript,${encodeURIComponent(change(code).replace('@regolith/engine', library))}`),
		),
	);
}

/** Returns a test for the documents that checks allow. */
export async function checkDocuments(http: Client): Promise<(document: Document) => boolean> {
	const checks = documents.map(({ id, tenant_id: tenant, owner_id: owner, level }) => {
		return {
			user: 'ann',
			action: 'read',
			resource: { type: 'document', key: id, tenant, attributes: { owner, level } },
		};
	});
	const { body } = await http.post<{ allow: { allow: boolean }[] }>('/allowed/bulk', checks);
	return (document) => body.allow[documents.indexOf(document)]?.allow === true;
}
