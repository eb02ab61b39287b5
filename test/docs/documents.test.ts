import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { z } from 'zod';
import { EnvironmentDocument } from '../../src/wire/general/environment-document.js';
import { fenced } from '../support/fenced.js';
import { startManagement } from '../support/management.js';
import { root } from '../support/root.js';

/**
 * `docs/policy/documents.md` shows a document with every field. Importing and then exporting this document gives the
 * same text.
 */

const path = join(root, 'docs/policy/documents.md');

const Node = z.looseObject({
	$ref: z.string().optional(),
	properties: z.record(z.string(), z.unknown()).optional(),
	additionalProperties: z.unknown().optional(),
	items: z.unknown().optional(),
	anyOf: z.array(z.unknown()).optional(),
});

const whole = z.toJSONSchema(EnvironmentDocument, { io: 'input', unrepresentable: 'any' });

/** Returns the schema fields that are missing from all values. Does not list the nested fields of a missing field. */
function missingMembers(schema: unknown, values: readonly unknown[], at: string): readonly string[] {
	const { $ref, properties, additionalProperties, items, anyOf } = Node.catch({}).parse(schema);
	if ($ref !== undefined) return missingMembers(whole.$defs?.[$ref.replace('#/$defs/', '')], values, at);
	if (anyOf !== undefined) return missingMembers(anyOf[0], values, at);
	if (items !== undefined) return missingMembers(items, values.flat(), `${at}[]`);
	const objects = values.filter((value) => typeof value === 'object' && value !== null);
	if (properties === undefined) {
		const members = objects.flatMap((value) => Object.values(value));
		return additionalProperties === undefined ? [] : missingMembers(additionalProperties, members, `${at}.*`);
	}
	return Object.entries(properties).flatMap(([name, member]) => {
		const found = objects.flatMap((value) =>
			Object.entries(value).flatMap(([key, own]) => (key === name ? [own] : [])),
		);
		return found.length === 0 ? [`${at}.${name}`] : missingMembers(member, found, `${at}.${name}`);
	});
}

test('the document on the page has every field, and exporting it after an import gives the same text', async (t) => {
	const page = readFileSync(path, 'utf8');
	const [text = ''] = fenced(page, 'json');
	const document: unknown = JSON.parse(text);
	t.deepEqual(missingMembers(whole, [document], ''), []);
	const management = await startManagement();
	t.teardown(management.stop);
	const environment = '/v2/projects/default/envs/dev';
	const imported = await management.environment.send(
		'POST',
		`${environment}/import?conflict_strategy=replace`,
		document,
	);
	t.is(imported.status, 200, JSON.stringify(imported.body));
	const answer = await fetch(`${management.url}${environment}/export`, {
		headers: { authorization: `Bearer ${management.keys.environment}` },
	});
	const exported = await answer.text();
	if (process.env['UPDATE'] === '1')
		writeFileSync(
			path,
			page.replace(text, () => exported),
		);
	t.is(text, exported, '`UPDATE=1` writes the document into the page');
});
