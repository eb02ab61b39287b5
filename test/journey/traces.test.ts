// @alone @rest

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { deploy, seedSchema } from '../support/deployment.js';
import { eventually } from '../support/eventually.js';
import { root } from '../support/root.js';
import { facts } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** Traces from the built program, recorded by an SDK that an operator provides (docs/operate/operation.md). */

interface Recorded {
	readonly name: string;
	readonly trace: string;
	readonly id: string;
	readonly parent: string | null;
	readonly links: readonly string[];
	readonly attributes: Readonly<Record<string, unknown>>;
	readonly pid: number;
}

/** Returns a module that starts an SDK, as an operator would write it. The module appends its spans to a file. */
const sdk = (file: string) => `
import { appendFileSync } from 'node:fs';
import { NodeTracerProvider, SimpleSpanProcessor } from '${pathToFileURL(join(root, 'node_modules/@opentelemetry/sdk-trace-node/build/src/index.js'))}';
const told = (span) => ({
	name: span.name,
	trace: span.spanContext().traceId,
	id: span.spanContext().spanId,
	parent: span.parentSpanContext?.spanId ?? null,
	links: span.links.map(({ context }) => context.spanId),
	attributes: span.attributes,
	pid: process.pid,
});
const exporter = {
	export(spans, done) {
		for (const span of spans) appendFileSync(${JSON.stringify(file)}, JSON.stringify(told(span)) + '\\n');
		done({ code: 0 });
	},
	shutdown: async () => {},
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
`;

test('a write, its publication and its arrival at a decision point are in one trace', async (t) => {
	const folder = temporary(t);
	const [starting, file] = [join(folder, 'tracing.mjs'), join(folder, 'spans')];
	writeFileSync(starting, sdk(file));
	const deployment = await deploy('server', 'apart', { NODE_OPTIONS: `--import ${pathToFileURL(starting)}` });
	t.teardown(deployment.remove);
	await seedSchema(deployment);
	const caller = { trace: '0af7651916cd43dd8448eb211c80319c', id: 'b7ad6b7169203331' };
	const headers = { traceparent: `00-${caller.trace}-${caller.id}-01` };
	const written = await deployment.api.post(`${facts}/users`, { key: 'traced' }, { headers });
	t.is(written.status, 200);
	const spans = (): readonly Recorded[] =>
		existsSync(file)
			? readFileSync(file, 'utf8')
					.trimEnd()
					.split('\n')
					.map((line) => JSON.parse(line))
			: [];
	const ofTrace = () => spans().filter(({ trace }) => trace === caller.trace);
	const recorded = await eventually(ofTrace, (seen) => seen.some(({ name }) => name === 'apply revision'));
	const named = (name: string) => recorded.filter((span) => span.name === name);
	const [write] = named('POST /v2/facts/:proj_id/:env_id/users');
	const [publish] = named('publish revision');
	const [apply] = named('apply revision');
	t.is(recorded.length, 3, JSON.stringify(recorded));
	t.like(write, { parent: caller.id, attributes: { 'http.response.status_code': 200 } });
	t.is(write?.attributes['regolith.request_id'], written.headers.get('x-request-id'));
	t.like(publish, { parent: write?.id, pid: write?.pid, attributes: { 'regolith.revision': written.revision } });
	t.like(apply, { parent: publish?.id, attributes: { 'regolith.revision': written.revision } });
	t.not(apply?.pid, publish?.pid, 'the spans come from two processes');
	const compiled = spans().find(({ name }) => name === 'compile policy');
	t.truthy(compiled);
	const checked = { user: 'traced', action: 'read', resource: 'document' };
	await deployment.pdp.post('/allowed', checked, { headers: { traceparent: `00-${caller.trace}-${caller.id}-01` } });
	const [check] = await eventually(
		() => ofTrace().filter(({ name }) => name === 'POST /allowed'),
		(seen) => seen.length > 0,
	);
	t.like(check, { parent: caller.id, pid: apply?.pid });
	t.false(readFileSync(file, 'utf8').includes('traced'), 'no span names a user');
});
