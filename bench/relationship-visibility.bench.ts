import { type Stack, startStack } from '../test/support/stack.js';
import { graphModel, groupKey, groupKeys, mixed, sizes, tenantKey, userKey } from './support/graph-model.js';

/**
 * Measures the time from a write request until decisions reflect the write, with the graph from `graph-model`. API,
 * publisher and decision point run in this process on PostgreSQL and communicate over real HTTP. The decision point is
 * waiting in a long poll. Targets: a membership, a relationship and a nested group each in under 100 ms. Filling the
 * environment takes a few minutes.
 */

const schema = '/v2/schema/default/dev';
const facts = '/v2/facts/default/dev';
const writes = Number(process.env['WRITES'] ?? 30);

type Answer = Promise<{ readonly status: number; readonly body: unknown; readonly revision: number | undefined }>;

async function accepted(answer: Answer): Promise<number | undefined> {
	const { status, body, revision } = await answer;
	if (status >= 300) throw new Error(`a write returned ${status}: ${JSON.stringify(body)}`);
	return revision;
}

async function inPortions<R>(
	rows: readonly R[],
	size: number,
	send: (portion: readonly R[]) => Answer,
): Promise<number | undefined> {
	let revision: number | undefined;
	for (let start = 0; start < rows.length; start += size) {
		revision = (await accepted(send(rows.slice(start, start + size)))) ?? revision;
	}
	return revision;
}

async function populate({ environment: api, reached }: Stack): Promise<void> {
	const model = graphModel();
	for (const { key, name, actions, relations } of model.schema.resources) {
		const body = {
			key,
			name,
			actions: Object.fromEntries(actions.map((action) => [action.key, {}])),
		};
		await accepted(api.post(`${schema}/resources`, body));
		for (const relation of relations) {
			const { subject: subject_resource } = relation;
			const related = { key: relation.key, name: relation.name, subject_resource };
			await accepted(api.post(`${schema}/resources/${key}/relations`, related));
		}
	}
	const subjects = new Map(
		model.schema.resources.flatMap(({ key, relations }) =>
			relations.map((relation) => [`${key} ${relation.key}`, relation.subject] as const),
		),
	);
	for (const { key, roles } of model.schema.resources) {
		for (const { derivations: _, no_direct_roles_on_object: __, description: ___, ...role } of roles) {
			await accepted(api.post(`${schema}/resources/${key}/roles`, role));
		}
	}
	for (const { key, roles } of model.schema.resources) {
		for (const { key: role, derivations } of roles) {
			for (const { relation, role: source } of derivations) {
				const rule = { role: source, on_resource: subjects.get(`${key} ${relation}`), linked_by_relation: relation };
				await accepted(api.post(`${schema}/resources/${key}/roles/${role}/implicit_grants`, rule));
			}
		}
	}
	const { tenants, users, instances, instance_assignments, relationships } = model.facts;
	const told = (what: string) => console.log(`  ${what} after ${(performance.now() / 1000).toFixed(0)} s`);
	await accepted(api.post(`${facts}/bulk/tenants`, { operations: tenants.map(({ key }) => ({ key, name: key })) }));
	await inPortions(users, 3000, (keys) =>
		api.post(`${facts}/bulk/users`, { operations: keys.map((key) => ({ key })) }),
	);
	told('users');
	await inPortions(instances, 3000, (rows) =>
		api.put(`${facts}/bulk/resource_instances`, {
			operations: rows.map(({ type, key, tenant }) => ({ key, tenant, resource: type })),
		}),
	);
	told('instances');
	await inPortions(relationships, 1000, (rows) =>
		api.post(`${facts}/relationship_tuples/bulk`, {
			operations: rows.map(({ type, instance, relation, subject_type, subject }) => ({
				subject: `${subject_type}:${subject}`,
				relation,
				object: `${type}:${instance}`,
			})),
		}),
	);
	told('relationships');
	const revision = await inPortions(instance_assignments, 2000, (rows) =>
		api.post(
			`${facts}/role_assignments/bulk`,
			rows.map(({ user, role, type, instance }) => ({ user, role, resource_instance: `${type}:${instance}` })),
		),
	);
	told('assignments');
	const loading = performance.now();
	await reached(revision);
	console.log(`  the decision point follows after ${((performance.now() - loading) / 1000).toFixed(1)} s`);
}

type Write = (turn: number) => readonly [method: 'post' | 'delete', path: string, body: object];

/** A membership is new in each turn. Of the other kinds, each even turn makes a change and the next turn undoes it. */
const kinds: Readonly<Record<string, Write>> = {
	'one membership': (turn) => {
		const user = mixed(Math.floor(turn / 2) * 11 + 1, sizes.users);
		const held = groupKeys(user);
		const group = Array.from({ length: held.length + 1 }, (_, next) => groupNear(user, turn + next)).find(
			(candidate) => !held.includes(groupKey(candidate)),
		);
		return ['post', `${facts}/role_assignments`, assignment(userKey(user), group ?? 0)];
	},
	'a second parent for a document': (turn) => {
		const document = Math.floor(turn / 2) * sizes.tenants;
		return [
			turn % 2 === 0 ? 'post' : 'delete',
			`${facts}/relationship_tuples`,
			tuple(`folder:folder-${document + sizes.tenants}`, 'parent', `document:document-${document}`),
		];
	},
	'a parent for a folder with subfolders': (turn) => {
		const folder = (Math.floor(turn / 2) * 6 + 6) * sizes.tenants;
		return [
			turn % 2 === 0 ? 'post' : 'delete',
			`${facts}/relationship_tuples`,
			tuple('folder:folder-0', 'parent', `folder:folder-${folder}`),
		];
	},
	'a nested group, in a chain of groups': (turn) => {
		const group = (Math.floor(turn / 2) * 5 + 5) * sizes.tenants;
		return [
			turn % 2 === 0 ? 'post' : 'delete',
			`${facts}/relationship_tuples`,
			tuple(`group:${groupKey(4 * sizes.tenants)}`, 'nested', `group:${groupKey(group)}`),
		];
	},
};

/** Returns a group in the user's tenant, different in each turn. */
function groupNear(user: number, turn: number): number {
	return ((turn * 7) % (sizes.groups / sizes.tenants)) * sizes.tenants + (user % sizes.tenants);
}

function assignment(user: string, group: number) {
	return { user, role: 'member', tenant: tenantKey(group), resource_instance: `group:${groupKey(group)}` };
}

function tuple(subject: string, relation: string, object: string) {
	return { subject, relation, object };
}

async function measure(stack: Stack): Promise<void> {
	const { environment: api, reached } = stack;
	for (const [title, write] of Object.entries(kinds)) {
		const visible: number[] = [];
		for (let turn = 0; turn < writes; turn += 1) {
			const [method, path, body] = write(turn);
			const started = performance.now();
			await reached(await accepted(api[method](path, body)));
			visible.push(performance.now() - started);
		}
		const sorted = visible.toSorted((a, b) => a - b);
		const [median, most] = [sorted[Math.floor(sorted.length / 2)] ?? Number.NaN, sorted.at(-1) ?? Number.NaN];
		console.log(`${title.padEnd(42)} visible after ${median.toFixed(1)} ms, at most ${most.toFixed(1)} ms`);
	}
}

const stack = await startStack('server');
try {
	await populate(stack);
	await measure(stack);
} finally {
	await stack.stop();
}
