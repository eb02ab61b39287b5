import type { StoreKind } from '../test/support/postgres.js';
import { type Stack, startStack } from '../test/support/stack.js';

/**
 * Measures the time from a write request until decisions reflect the write, at 100,000 role assignments, on both
 * stores. API, publisher and decision point run in this process and communicate over real HTTP. The decision point is
 * waiting in a long poll. Target: a median of at most 100 ms.
 */

const assignments = 100_000;
const perRequest = 2_000;
const writes = 40;
const tenants = 100;

const userKey = (index: number) => `user-${index}@example.com`;
const tenantKey = (index: number) => `tenant-${index % tenants}`;
const schema = '/v2/schema/default/dev';
const facts = '/v2/facts/default/dev';

async function accepted(
	answer: Promise<{ readonly status: number; readonly body: unknown; readonly revision: number | undefined }>,
) {
	const { status, body, revision } = await answer;
	if (status >= 300) throw new Error(`a write returned ${status}: ${JSON.stringify(body)}`);
	return revision;
}

async function populate({ environment: api, reached }: Stack): Promise<void> {
	await accepted(
		api.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {}, write: {} } }),
	);
	await accepted(api.post(`${schema}/roles`, { key: 'reader', name: 'Reader', permissions: ['document:read'] }));
	await accepted(api.post(`${schema}/roles`, { key: 'writer', name: 'Writer', permissions: ['document:write'] }));
	for (let index = 0; index < tenants; index += 1) {
		await accepted(api.post(`${facts}/tenants`, { key: tenantKey(index), name: tenantKey(index) }));
	}
	let revision: number | undefined;
	for (let start = 0; start < assignments; start += perRequest) {
		const rows = Array.from({ length: perRequest }, (_, offset) => {
			const index = start + offset;
			return { user: userKey(index), role: 'reader', tenant: tenantKey(index) };
		});
		revision = await accepted(api.post(`${facts}/role_assignments/bulk?missing_user_policy=create`, rows));
	}
	await reached(revision);
}

interface Figures {
	readonly acknowledged: number[];
	readonly visible: number[];
}

async function measure(stack: Stack): Promise<Figures> {
	const { environment: api, pdp, reached } = stack;
	const figures: Figures = { acknowledged: [], visible: [] };
	for (let turn = 0; turn < writes; turn += 1) {
		const index = (turn * 7919) % assignments;
		const body = { user: userKey(index), role: 'writer', tenant: tenantKey(index) };
		const started = performance.now();
		const revision = await accepted(api.post(`${facts}/role_assignments`, body));
		figures.acknowledged.push(performance.now() - started);
		await reached(revision);
		figures.visible.push(performance.now() - started);
		const check = await pdp.post('/allowed', {
			user: body.user,
			action: 'write',
			resource: { type: 'document', tenant: body.tenant },
		});
		if (check.body['allow'] !== true) throw new Error('a visible write does not affect the decision');
	}
	return figures;
}

const median = (values: readonly number[]) =>
	[...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const shown = (values: readonly number[]) =>
	`median ${median(values).toFixed(1)} ms, worst ${Math.max(...values).toFixed(1)} ms`;

for (const kind of ['embedded', 'server'] satisfies StoreKind[]) {
	const stack = await startStack(kind);
	const started = performance.now();
	await populate(stack);
	console.log(`${kind}: ${assignments} assignments written in ${((performance.now() - started) / 1000).toFixed(1)} s`);
	const { acknowledged, visible } = await measure(stack);
	console.log(`${kind}: a write acknowledged: ${shown(acknowledged)}`);
	console.log(`${kind}: a write visible:      ${shown(visible)}`);
	await stack.stop();
}
