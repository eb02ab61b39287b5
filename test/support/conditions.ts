/** Condition sets in every engine that decides by them, without the rest of a policy around. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPolicy } from '@open-policy-agent/opa-wasm';
import jsonLogic from 'json-logic-js';
import { RE2JS } from 're2js';
import type { Condition } from '../../compiler/condition/condition.js';
import { parseConditions } from '../../compiler/condition/grammar.js';
import { operations, toJsonLogic } from '../../compiler/condition/json-logic.js';
import type { ConditionSet, Json, RegoFile } from '../../compiler/model.js';
import { writeMatching } from '../../compiler/policy/matching-policy.js';
import { writeConditionSet } from '../../compiler/policy/set-policy.js';
import { policyWasm, runOpa, writeFiles } from '../compiler/engine.js';
import { root } from './root.js';

/** What conditions can know. Built-in attributes are members here: `user.roles`. */
export interface Subject {
	readonly user: Json;
	readonly resource: Json;
	readonly tenant: Json;
	readonly context: Json;
}

/** A user set of that key. */
export function userSet(key: string, conditions: Json): ConditionSet {
	return {
		key,
		name: key,
		description: null,
		type: 'userset',
		resource: null,
		parent: null,
		selects: { conditions },
	};
}

/** The condition of a user set. Throws when it has problems. */
export function parsedCondition(conditions: Json): Condition {
	const parsed = parseConditions(conditions, { type: 'userset' });
	if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
	return parsed.condition;
}

/** Finds a regular expression in a text as the decision points do. */
export function patternMatches(pattern: string, text: string): boolean {
	return RE2JS.compile(pattern).matcher(text).find();
}

for (const [name, operation] of Object.entries(operations)) jsonLogic.add_operation(name, operation);
jsonLogic.add_operation('pattern_matches', patternMatches);

/** What JsonLogic says of a subject. */
export function logicAnswer(condition: Condition, subject: Subject): unknown {
	// The library declares the operations that it comes with, and not those that were added.
	return jsonLogic.apply(toJsonLogic(condition) as jsonLogic.RulesLogic, subject);
}

/** Which sets, of those asked about, select a subject. */
export interface Asked extends Subject {
	readonly sets: readonly string[];
}

/** User sets that were compiled. */
export interface CompiledSets {
	readonly files: readonly RegoFile[];
	/** What WebAssembly answers: set to whether it selects. */
	wasm(asked: Asked): Readonly<Record<string, boolean>>;
	/** What `opa eval` answers, for all of them. */
	opa(asked: readonly Asked[]): Promise<readonly Readonly<Record<string, boolean>>[]>;
}

/** Compiles user sets over a stub of `regolith.attributes` that takes everything from the input. */
export async function compileSets(sets: readonly ConditionSet[]): Promise<CompiledSets> {
	const compare = 'regolith/compare/compare.rego';
	const generated = sets.map(writeConditionSet);
	const matching = writeMatching(sets);
	const library = { path: compare, text: await readFile(join(root, 'policy', compare), 'utf8') };
	const files = [library, ...stub, ...generated, ...matching];
	const module = await inFolder(files, async (folder) => {
		await runOpa(['build', '-t', 'wasm', '--prune-unused', '-e', 'sets/answers', '-o', 'b.tar.gz', 'rego'], folder);
		return policyWasm(await readFile(join(folder, 'b.tar.gz')));
	});
	const policy = await loadPolicy(module, 64);
	return {
		files: generated,
		wasm: (asked) => (policy.evaluate(asked) as { result: Record<string, boolean> }[])[0]?.result ?? {},
		opa: (asked) =>
			inFolder(files, async (folder) => {
				await writeFile(join(folder, 'input.json'), JSON.stringify(asked));
				const query = '[answer | some asked in input; answer := data.sets.answers with input as asked]';
				return JSON.parse(await runOpa(['eval', '-d', 'rego', '-i', 'input.json', '-f', 'raw', query], folder));
			}),
	};
}

/** Holds files against the strict rules and the one format of the language, together with what they import. */
export async function checkFormat(sets: readonly ConditionSet[]): Promise<void> {
	const compare = 'regolith/compare/compare.rego';
	const library = { path: compare, text: await readFile(join(root, 'policy', compare), 'utf8') };
	await inFolder([library, ...stub, ...sets.map(writeConditionSet), ...writeMatching(sets)], async (folder) => {
		await runOpa(['check', '--strict', 'rego'], folder);
		await runOpa(['fmt', '--list', '--fail', 'rego'], folder);
	});
}

const builtIn = {
	user: ['key', 'roles', 'tenants'],
	resource: ['key', 'type', 'tenant'],
	tenant: ['key'],
	context: [],
};

/** Attributes come from the input, and the entrypoint asks for sets by their keys, as rules of an environment do. */
const stub: readonly RegoFile[] = [
	{
		path: 'regolith/attributes/attributes.rego',
		text: `package regolith.attributes

${Object.entries(builtIn)
	.flatMap(([object, names]) => [
		`${object} := object.remove(input.${object}, ${JSON.stringify(names).replaceAll(',', ', ')})`,
		...names.map((name) => `${object}_${name} := input.${object}.${name}`),
	])
	.join('\n\n')}
`,
	},
	{
		path: 'regolith/rbac/rbac.rego',
		text: 'package regolith.rbac\n\nroles := {role: null | some role in input.user.roles}\n',
	},
	{ path: 'regolith/expiry/expiry.rego', text: 'package regolith.expiry\n\nlive(null)\n' },
	{
		path: 'sets/sets.rego',
		text: `package sets

answers := {name: selected |
	some name in input.sets
	selected := asked(name)
}

default asked(_) := false

asked(name) if data.regolith.matching.user_sets[name]
`,
	},
];

async function inFolder<T>(files: readonly RegoFile[], use: (folder: string) => Promise<T>): Promise<T> {
	const folder = await mkdtemp(join(tmpdir(), 'regolith-test-'));
	try {
		await writeFiles(join(folder, 'rego'), files);
		return await use(folder);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}
