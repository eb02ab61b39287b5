import { client } from '../test/support/client.js';
import type { StoreKind } from '../test/support/postgres.js';
import { accepted, startApi } from './support/api.js';

/**
 * Measures single relationship writes, in sequence, on both stores: a new document in a folder, a group that can view a
 * folder (with few and with very many documents), and a folder in a folder. `DOCUMENTS` (20,000) sets the size for the
 * last case.
 */

const documents = Number(process.env['DOCUMENTS'] ?? 20_000);
const rounds = Number(process.env['ROUNDS'] ?? 100);
const range = (length: number) => Array.from({ length }, (_, index) => index);

const viewer = (...rules: readonly (readonly [role: string, on_resource: string, linked_by_relation: string])[]) => ({
	viewer: {
		name: 'Viewer',
		granted_to: {
			users_with_role: rules.map(([role, on_resource, linked_by_relation]) => ({
				role,
				on_resource,
				linked_by_relation,
			})),
		},
	},
});

async function measure(kind: StoreKind): Promise<void> {
	const api = await startApi(kind);
	const place = await api.place();
	const http = client(api.url, place.secret);
	const schema = place.facts.replace('/facts/', '/schema/');
	const resource = async (key: string, body: object) =>
		accepted(await http.post(`${schema}/resources`, { key, name: key, actions: {}, ...body }));
	await resource('group', { roles: { member: { name: 'Member' } } });
	await resource('folder', { relations: { viewers: 'group' }, roles: { viewer: { name: 'Viewer' } } });
	await resource('document', { relations: { parent: 'folder' } });
	accepted(
		await http.post(`${schema}/resources/folder/relations`, {
			key: 'parent',
			name: 'parent',
			subject_resource: 'folder',
		}),
	);
	const ofFolder = viewer(['viewer', 'folder', 'parent'], ['member', 'group', 'viewers']);
	accepted(await http.patch(`${schema}/resources/folder`, { roles: ofFolder }));
	accepted(await http.patch(`${schema}/resources/document`, { roles: viewer(['viewer', 'folder', 'parent']) }));
	const path = `${place.facts}/relationship_tuples`;
	const tuple = (subject: string, relation: string, object: string) => ({
		subject,
		relation,
		object,
		tenant: 'default',
	});
	for (const index of range(6)) {
		accepted(await http.post(path, tuple(`folder:c${index}`, 'parent', `folder:c${index + 1}`)));
	}
	for (let start = 0; start < documents; start += 1_000) {
		const operations = range(1_000).map((index) => tuple('folder:large', 'parent', `document:l${start + index}`));
		accepted(await http.post(`${path}/bulk`, { operations }));
	}
	for (const index of range(100))
		accepted(await http.post(path, tuple('folder:small', 'parent', `document:s${index}`)));
	const writes: Readonly<Record<string, (index: number) => object>> = {
		'a document in a folder': (index) => tuple('folder:c6', 'parent', `document:d${index}`),
		'a group that views an empty folder': (index) => tuple(`group:g${index}`, 'viewers', `folder:empty${index}`),
		'a folder in the last of six': (index) => tuple('folder:c6', 'parent', `folder:f${index}`),
		'a group that views a folder of 100': (index) => tuple(`group:g${index}`, 'viewers', 'folder:small'),
		[`a group that views a folder of ${documents}`]: (index) => tuple(`group:g${index}`, 'viewers', 'folder:large'),
	};
	for (const [title, body] of Object.entries(writes)) {
		const taken: number[] = [];
		for (const index of range(rounds)) {
			const start = performance.now();
			accepted(await http.post(path, body(index)));
			taken.push(performance.now() - start);
		}
		taken.sort((one, other) => one - other);
		const at = (share: number) => (taken[Math.floor((taken.length - 1) * share)] ?? Number.NaN).toFixed(1).padStart(7);
		console.log(`  ${kind.padEnd(9)} ${title.padEnd(45)} p50${at(0.5)} ms   p90${at(0.9)} ms   most${at(1)} ms`);
	}
	await api.stop();
}

for (const kind of ['server', 'embedded'] as const) await measure(kind);
