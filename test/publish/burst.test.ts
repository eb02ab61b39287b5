// @rest

import { EventEmitter, once } from 'node:events';
import test from 'ava';
import type { Schema } from '../../compiler/model.js';
import { startApi } from '../../src/compose/api.js';
import { readConfig } from '../../src/config.js';
import { createLogger } from '../../src/log.js';
import { type Assembler, createAssembler } from '../../src/publish/assemble.js';
import { client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { createDatabase } from '../support/postgres.js';
import { schema as schemaPath, settings } from '../support/stack.js';
import { temporary } from '../support/temporary.js';

/** Returns a compiler that records every schema it gets, and starts no compilation before the gate opens. */
function gated() {
	const events = new EventEmitter<{ open: [] }>();
	const compiled: Schema[] = [];
	let open = true;
	const make = (...made: Parameters<typeof createAssembler>): Assembler => {
		const real = createAssembler(...made);
		return {
			...real,
			assemble: async (schema) => {
				compiled.push(schema);
				while (!open) await once(events, 'open');
				return real.assemble(schema);
			},
		};
	};
	return {
		make,
		compiled,
		set: (next: boolean) => {
			open = next;
			events.emit('open');
		},
	};
}

test('in a burst of changes, the first and the newest state are compiled', async (t) => {
	const database = await createDatabase();
	const config = readConfig({ ...settings(temporary(t), 'burst'), DATABASE_URL: database.url });
	const gate = gated();
	const api = await startApi(config, createLogger('silent'), { assembler: gate.make });
	t.teardown(async () => {
		gate.set(true);
		await api.stop();
		await database.drop();
	});
	const http = client(api.listening.url, config.bootstrap.environment ?? '');
	const addType = async (key: string) => {
		const { status, revision } = await http.post(`${schemaPath}/resources`, { key, name: key, actions: { read: {} } });
		if (status !== 200 || revision === undefined) throw new Error(`${key} was answered ${status}`);
		return revision;
	};
	const isCompiled = (revision: number) =>
		eventually(
			async () => (await http.get<{ compiled_revision: number }>('/v2/projects/default/dev/policy')).body,
			({ compiled_revision }) => compiled_revision >= revision,
		);
	await isCompiled(await addType('before'));

	gate.set(false);
	const earlier = gate.compiled.length;
	let last = await addType('type-0');
	await eventually(
		async () => gate.compiled.length,
		(count) => count > earlier,
	);
	for (let index = 1; index < 20; index += 1) last = await addType(`type-${index}`);
	gate.set(true);
	await isCompiled(last);

	const typesIn = ({ resources }: Schema) => resources.filter(({ key }) => key.startsWith('type-')).length;
	t.deepEqual(gate.compiled.slice(earlier).map(typesIn), [1, 20]);
});
