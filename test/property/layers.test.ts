/**
 * Paths that diverge and converge. For most of these shapes, a check that followed each path separately would run for
 * longer than a test may.
 */
import test from 'ava';
import { documentBytes } from '../../compiler/index.js';
import { evaluate, wasmEngine } from '../compiler/engine.js';
import { type Layers, layeredGraph, layerName } from '../support/layers.js';
import { decide } from './oracle.js';
import { type Question, rego } from './questions.js';

const questions: readonly Question[] = ['ann', 'ben'].map((user) => ({
	user: { key: user },
	action: 'read',
	resource: { type: layerName(0), key: 'only', tenant: 'acme' },
}));

const shapes: Readonly<Record<string, Layers>> = {
	...Object.fromEntries([3, 4, 5, 6, 7, 8].map((depth) => [`${depth} layers of 30`, { depth, width: 30 }])),
	'6 layers of 30 that are cycles with closures': { depth: 6, width: 30, cycle: 'closed' },
	'6 layers of 30 that are interruptible cycles': { depth: 6, width: 30, cycle: 'interruptible' },
	'30 types with two relations each': { depth: 30, width: 1, relations: 2 },
	'30 types with two roles each': { depth: 30, width: 1, roles: 2 },
	'30 types with two roles each, of which one is a cycle': { depth: 30, width: 1, roles: 2, cycle: 'closed' },
	'30 types with two roles each, of which one is an interruptible cycle': {
		depth: 30,
		width: 1,
		roles: 2,
		cycle: 'interruptible',
	},
	'8 types with two roles and two relations each, of 10 instances': { depth: 8, width: 10, roles: 2, relations: 2 },
};

for (const [name, shape] of Object.entries(shapes)) {
	test(`${name}: decisions and explanations agree with the search`, async (t) => {
		const model = layeredGraph(shape);
		const engine = await wasmEngine(rego(model));
		engine.setData(documentBytes(model));
		const expected = questions.map((question) => decide(model, question).code);
		t.deepEqual(expected, ['no_graph_roles', 'allow']);
		t.deepEqual(
			questions.map((question) => engine.ask('regolith/check/code', question)),
			expected,
		);
		const sections = questions.map((question) => engine.ask('regolith/explain/sections', question));
		t.deepEqual(sections.map(rebacCode), expected);
	});
}

function rebacCode(sections: unknown): unknown {
	return (sections as { readonly rebac?: { readonly code: string } }).rebac?.code;
}

test('evaluation in a stock OPA terminates too', async (t) => {
	for (const shape of [
		{ depth: 8, width: 30 },
		{ depth: 30, width: 1, roles: 2, cycle: 'interruptible' },
	] as const) {
		const model = layeredGraph(shape);
		const codes = await evaluate(rego(model), documentBytes(model), 'regolith/check/code', questions);
		t.deepEqual(codes, ['no_graph_roles', 'allow']);
	}
});

test('6 layers of 30: a viewer of an instance in the last layer views all instances in the other layers', async (t) => {
	const model = layeredGraph({ depth: 6, width: 30 });
	const engine = await wasmEngine(rego(model));
	engine.setData(documentBytes(model));
	const instances = model.facts.instances.map(({ type, key }) => ({ type, key }));
	const listed = engine.ask('regolith/listing/instance_permissions', { user: { key: 'ben' }, instances });
	// The only instance in the first layer, all instances in five layers, and a single instance in the last layer.
	t.is((listed as readonly unknown[]).length, 1 + 5 * 30 + 1);
});
