/**
 * Measures how the compilation time (Rego text, WebAssembly and the data document) depends on the schema size and the
 * number of facts.
 */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compilePolicy, documentBytes, type Model, type RegoFile, type Schema } from '../compiler/index.js';
import { buildWasm, checkRego, opaVersion, readPolicyLibrary } from '../compiler/opa/build.js';

const opa = process.env['OPA_PATH'] ?? join(fileURLToPath(new URL('../..', import.meta.url)), '.tools/opa');

/** Resource types with five actions each, and ten roles that share their permissions. */
function sizedSchema(types: number): Schema {
	const resources = Array.from({ length: types }, (_, type) => ({
		key: `type-${type}`,
		name: `Type ${type}`,
		description: null,
		actions: ['create', 'read', 'update', 'delete', 'share'].map((key) => ({ key, name: key, description: null })),
		roles: [],
		relations: [],
	}));
	const roles = Array.from({ length: 10 }, (_, role) => ({
		key: `role-${role}`,
		name: `Role ${role}`,
		description: null,
		extends: role === 0 ? [] : [`role-${role - 1}`],
		permissions: resources.flatMap(({ key, actions }, type) =>
			actions
				.filter((_action, index) => (type + index) % 10 === role)
				.map((action) => ({ resource: key, action: action.key })),
		),
	}));
	return { condition_sets: [], set_rules: [], resources, roles };
}

/** Returns a model in which each user has two roles, in two out of a hundred tenants. */
function sizedModel(assignments: number): Model {
	const users = Array.from({ length: assignments / 2 }, (_, user) => `user_${user}@example.com`);
	const tenants = Array.from({ length: 100 }, (_, tenant) => ({ key: `tenant-${tenant}`, attributes: {} }));
	const role_assignments = users.flatMap((user, index) =>
		[0, 1].map((turn) => ({ user, role: `role-${(index + turn) % 10}`, tenant: `tenant-${(index * 7 + turn) % 100}` })),
	);
	return {
		schema: sizedSchema(10),
		facts: {
			user_attributes: [],
			instance_attributes: [],
			users,
			tenants,
			role_assignments,
			instances: [],
			instance_assignments: [],
			relationships: [],
		},
	};
}

/** Returns the median of `rounds` runs after a warm-up run, in milliseconds. */
async function median(rounds: number, run: () => unknown): Promise<number> {
	const times: number[] = [];
	for (let round = 0; round <= rounds; round += 1) {
		const start = performance.now();
		await run();
		times.push(performance.now() - start);
	}
	return times.slice(1).sort((left, right) => left - right)[Math.floor(rounds / 2)] ?? Number.NaN;
}

function report(what: string, milliseconds: number, size: number): void {
	console.log(
		`${what.padEnd(52)} ${milliseconds.toFixed(1).padStart(9)} ms ${(size / 1024).toFixed(0).padStart(8)} KiB`,
	);
}

console.log(`opa ${await opaVersion(opa)}, node ${process.version}`);
const library = await readPolicyLibrary();
for (const types of [10, 100, 1000]) {
	const schema = sizedSchema(types);
	const files: readonly RegoFile[] = [...library, ...(compilePolicy(schema).policy ?? [])];
	const text = files.reduce((length, file) => length + file.text.length, 0);
	const bundle = await buildWasm({ opa, files });
	const rounds = types === 1000 ? 5 : 11;
	report(`${types} resource types: compilePolicy`, await median(rounds, () => compilePolicy(schema)), text);
	report(`${types} resource types: buildWasm`, await median(rounds, () => buildWasm({ opa, files })), bundle.length);
	report(`${types} resource types: checkRego`, await median(rounds, () => checkRego({ opa, files })), text);
}
for (const assignments of [1000, 100_000, 1_000_000]) {
	const model = sizedModel(assignments);
	const size = documentBytes(model).length;
	report(`${assignments} role assignments: documentBytes`, await median(5, () => documentBytes(model)), size);
}
