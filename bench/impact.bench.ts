import { schemaTables } from '../compiler/index.js';
import type { Patch, Schema } from '../compiler/model.js';
import { ImpactProcess } from '../src/impact/impact-process.js';
import { nothingTouched } from '../src/impact/index-closures.js';
import type { ImpactQuestion } from '../src/impact/messages.js';
import { quiet, snapshot } from '../test/pdp/environment.js';
import { folderKey, graphModel, groupKey, userKey } from './support/graph-model.js';

/**
 * Measures the impact process for several kinds of drafts, in the environment from `graph-model`, which has about
 * 1,000,000 facts and 100,000 users. Does not include the compilation of the drafted schema (see `compile.bench.ts`).
 */

const model = graphModel();
const child = new ImpactProcess({ memory: 8_192, time: 600_000 }, quiet);
const held = { lineage: '', token: '', revision: 1, digest: '0'.repeat(64), pending: null };

async function timed<T>(title: string, run: () => Promise<T>, tell: (result: T) => string): Promise<void> {
	const started = performance.now();
	const result = await run();
	console.log(`${title}: ${Math.round(performance.now() - started)} ms${tell(result)}`);
}

await timed(
	'loading the environment',
	async () => {
		const bundle = await snapshot({ revision: 1, model });
		await child.ask<'hold'>({ kind: 'hold', bundle, held }, 600_000);
	},
	() => '',
);

type Change = Pick<ImpactQuestion, 'patches' | 'touched'> & Partial<Pick<ImpactQuestion, 'closures'>>;

async function compare(title: string, change: Change, checks = 200_000): Promise<void> {
	const question: ImpactQuestion = {
		advance: { to: held, patches: [] },
		closures: null,
		policy: null,
		time: Date.now(),
		limits: { checks, rows: 200, milliseconds: 600_000 },
		decisions: [],
		...change,
	};
	await timed(
		title,
		() => child.ask<'impact'>({ kind: 'impact', question }, 600_000),
		({ comparison: { asked, gained, lost, truncated } }) =>
			`, ${asked} compared, ${gained} gained, ${lost} lost${truncated ? ', truncated' : ''}`,
	);
}

function upsert(path: readonly string[], value: Extract<Patch, { op: 'upsert' }>['value']): Patch {
	return { op: 'upsert', path: ['regolith', ...path], value };
}

/** Adds a role on an instance. */
function assigned(user: string, type: string, role: string, instance: string): Change {
	return {
		patches: [upsert(['facts', 'user_roles', user, type, role, `${type}:${instance}`], null)],
		touched: { ...nothingTouched, instance_assignments: [{ user, type, role, instance }] },
	};
}

/** Changes a role's permissions on documents. */
function granting(role: string, permissions: readonly string[]): Schema {
	return {
		...model.schema,
		resources: model.schema.resources.map((resource) =>
			resource.key !== 'document'
				? resource
				: { ...resource, roles: resource.roles.map((one) => (one.key === role ? { ...one, permissions } : one)) },
		),
	};
}

await compare('nothing changes', { patches: [], touched: nothingTouched });
await compare('a role on a folder is assigned', assigned(userKey(0), 'folder', 'editor', folderKey(20)));
await compare('a user joins a group', assigned(userKey(1), 'group', 'member', groupKey(1)));
const [subject, instance] = [folderKey(0), folderKey(120)];
const relation = { type: 'folder', instance, relation: 'parent', subject_type: 'folder', subject };
await compare('a folder is added to a folder, with all closures recomputed', {
	patches: [upsert(['facts', 'relations', `folder:${instance}`, 'parent', `folder:${subject}`], null)],
	touched: { ...nothingTouched, relationships: [relation] },
	closures: { schema: model.schema, in_force: null },
});
for (const checks of [200_000, 1_000_000]) {
	await compare(
		`editors of documents may no longer write, up to ${checks} checks`,
		{ patches: [upsert(['schema'], schemaTables(granting('editor', ['read'])))], touched: nothingTouched },
		checks,
	);
}
await child.stop();
