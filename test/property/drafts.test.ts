// @apart @both

import fc from 'fast-check';
import {
	applyDraft,
	changesBetween,
	type DraftedChange,
	environmentPath,
	previewDraft,
	type ToldChange,
} from '../support/drafts.js';
import { onEachStore } from '../support/each-store.js';
import { newPlace, type Place } from '../support/management.js';
import { draws } from '../support/tier.js';
import { type Document, drawDocument, type Json } from './documents.js';

/** Like an import, a draft can turn any environment into any target. Its preview predicts the result. */

const journey = onEachStore();

const runs = draws(10);

async function exportedText({ url, secret, project, key }: Place): Promise<string> {
	const path = `${url}/v2/projects/${project}/envs/${key}/export`;
	const text = await (await fetch(path, { headers: { authorization: `Bearer ${secret}` } })).text();
	return text.replace(/^\t"environment": .*$/m, '');
}

async function becomes(place: Place, document: Json): Promise<string> {
	const answer = await place.http.post(environmentPath(place, 'import?conflict_strategy=replace'), document);
	if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
	return exportedText(place);
}

/** Fields that differ between runs with the same changes. */
const ofTheRun = new Set(['id', 'created_at', 'updated_at', 'last_action_at']);
/** An id generated during a run. The keys in these tests look like ids of a different UUID version. */
const madeUp = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-/;

/** Returns changes without ids and times, keyed by operation and object. */
function comparable(changes: readonly ToldChange[]): Readonly<Record<string, unknown>> {
	const plain = (record: Json | null | undefined) =>
		JSON.parse(
			JSON.stringify(record ?? null, (name, value) =>
				ofTheRun.has(name) || (typeof value === 'string' && madeUp.test(value)) ? undefined : value,
			),
		);
	return Object.fromEntries(
		changes.map(({ kind, operation, key, before, after }) => [
			`${operation} ${kind} ${key}`,
			{ before: plain(before), after: plain(after) },
		]),
	);
}

async function logged(place: Place, revision: number): Promise<readonly ToldChange[]> {
	const rows: ToldChange[] = await place.store.database
		.knex('changes')
		.where({ environment_id: place.id, revision })
		.orderBy('position')
		.select('kind', 'operation', 'key', 'before', 'after');
	return JSON.parse(JSON.stringify(rows));
}

/** True if a change replaces an object, which deletes everything that depends on it. */
function replaces(before: Document & Json, { kind, operation, key = '', value }: DraftedChange): boolean {
	if (operation !== 'update') return false;
	const [holder = '', own = ''] = key.split(':');
	const member = (half: 'schema' | 'facts', name: string) =>
		(before[half] as Readonly<Record<string, Json>>)[name]?.[key];
	const old = {
		relation: before.schema.resources[holder]?.relations?.[own],
		resource_instance: member('facts', 'resource_instances'),
		elements_config: member('schema', 'elements_configs'),
		condition_set: member('schema', 'condition_sets'),
	}[kind] as Json | undefined;
	const young = value as Json;
	return (
		old !== undefined &&
		['subject_resource', 'tenant', 'elements_type', 'type', 'resource'].some((name) => old[name] !== young[name])
	);
}

journey('a draft can turn any environment into any target, as its preview predicts', async (t, place, management) => {
	const target = await newPlace(management, management.project);
	const property = fc.asyncProperty(fc.gen(), async (random) => {
		const before = await becomes(place, drawDocument(random));
		const after = await becomes(target, drawDocument(random));
		const [old, young] = [JSON.parse(before), JSON.parse(after)];
		const changes = changesBetween(old, young);
		const revision = await place.revision();

		const preview = await previewDraft(place, changes);
		t.is(preview.status, 200, JSON.stringify(preview.body));
		t.is(preview.revision, revision);
		t.is(await place.revision(), revision);
		t.is(await exportedText(place), before, 'a preview changes nothing');

		const applied = await applyDraft(place, changes);
		t.is(applied.status, 200, JSON.stringify(applied.body));
		t.is(applied.revision, applied.body.revision);
		const log = changes.length === 0 ? [] : await logged(place, applied.body.revision);
		t.deepEqual(comparable(preview.body.changes), comparable(log), 'the preview predicted the changes');
		t.deepEqual(
			applied.body.changes.changes.map(({ kind, operation, key }) => ({ kind, operation, key })),
			log.map(({ kind, operation, key }) => ({ kind, operation, key })),
		);

		if (!changes.some((change) => replaces(old, change))) t.is(await exportedText(place), after);
		const rest = changesBetween(JSON.parse(await exportedText(place)), young);
		t.is((await applyDraft(place, rest)).status, 200);
		t.is(await exportedText(place), after, 'objects deleted by cascade are restored');

		if (changes.length === 0) return;
		const now = await place.revision();
		const stale = await applyDraft(place, changes, revision);
		t.is(stale.status, 409, JSON.stringify(stale.body));
		t.is(await place.revision(), now, 'a stale draft changes nothing');
		t.is(await exportedText(place), after);
	});
	await fc.assert(property, { numRuns: runs });
});
