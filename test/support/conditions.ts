/** Evaluates condition sets in every engine that uses them, without the other parts of a policy. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPolicy } from '@open-policy-agent/opa-wasm';
import jsonLogic from 'json-logic-js';
import { RE2JS } from 're2js';
import type { Condition } from '../../compiler/condition/condition.js';
import { operations, toJsonLogic } from '../../compiler/condition/json-logic.js';
import { parseConditions } from '../../compiler/condition/parse/grammar.js';
import type { ConditionSet, Json, RegoFile } from '../../compiler/model.js';
import { writeAgo } from '../../compiler/policy/ago-policy.js';
import { writeMatching } from '../../compiler/policy/matching-policy.js';
import { writeConditionSet } from '../../compiler/policy/set-policy.js';
import { policyWasm, runOpa, writeFiles } from '../compiler/engine.js';
import { root } from './root.js';

/** Input for conditions. Built-in attributes are plain fields here: `user.roles`. */
export interface Subject {
	readonly grant?: Json;
	readonly user: Json;
	readonly resource: Json;
	readonly tenant: Json;
	readonly context: Json;
	/** Time of the check, in milliseconds since 1970. */
	readonly now: number;
	/** Attributes of instances in the check's tenant, keyed by `<type>:<key>`; none if absent. */
	readonly related?: Readonly<Record<string, Json>>;
}

/** Returns functions that read related instances of a subject, for explanations and compiled conditions. */
export function relatedReader({ related = {} }: Subject): (type: string, key: string) => Json {
	return (type, key) => (Object.hasOwn(related, `${type}:${key}`) ? (related[`${type}:${key}`] ?? {}) : {});
}

/** Returns a user set with this key. */
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

/** Returns a user set's condition. Throws if it has problems. */
export function parsedCondition(conditions: Json): Condition {
	const parsed = parseConditions(conditions, { type: 'userset', bound: false });
	if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
	return parsed.condition;
}

/** True if a regular expression matches within a text, as in decision points. */
export function patternMatches(pattern: string, text: string): boolean {
	return RE2JS.compile(pattern).matcher(text).find();
}

for (const [name, operation] of Object.entries(operations)) jsonLogic.add_operation(name, operation);
jsonLogic.add_operation('pattern_matches', patternMatches);
/** Subject of the rule that is being evaluated. */
let current: Subject = { user: {}, resource: {}, tenant: {}, context: {}, now: 0 };
jsonLogic.add_operation('now', () => current.now);
jsonLogic.add_operation('related', (type, keys) =>
	(Array.isArray(keys) ? keys : typeof keys === 'string' ? [keys] : []).map((key) =>
		relatedReader(current)(String(type), String(key)),
	),
);

/** Evaluates a condition with JsonLogic. */
export function logicAnswer(condition: Condition, subject: Subject): unknown {
	current = subject;
	// The library's type declares only its built-in operations, without the added operations.
	return jsonLogic.apply(toJsonLogic(condition) as jsonLogic.RulesLogic, subject);
}

/** A subject, and the sets to evaluate for this subject. */
export interface Asked extends Subject {
	readonly sets: readonly string[];
}

/** Compiled user sets. */
export interface CompiledSets {
	readonly files: readonly RegoFile[];
	/** Evaluates the sets in WebAssembly. Returns true for each set that selects the subject. */
	wasm(asked: Asked): Readonly<Record<string, boolean>>;
	/** Evaluates all questions with a single `opa eval`. */
	opa(asked: readonly Asked[]): Promise<readonly Readonly<Record<string, boolean>>[]>;
}

/** Compiles user sets. A stub for `regolith.attributes` takes all attributes from the input. */
export async function compileSets(sets: readonly ConditionSet[]): Promise<CompiledSets> {
	const generated = sets.map(writeConditionSet);
	const files = [...(await readLibrary()), ...stub, ...generated, ...writeAgo(sets), ...writeMatching(sets)];
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

/** Asserts that the generated files and their imports pass strict checks and are formatted. */
export async function checkFormat(sets: readonly ConditionSet[]): Promise<void> {
	const generated = [...sets.map(writeConditionSet), ...writeAgo(sets), ...writeMatching(sets)];
	await inFolder([...(await readLibrary()), ...stub, ...generated], async (folder) => {
		await runOpa(['check', '--strict', 'rego'], folder);
		await runOpa(['fmt', '--list', '--fail', 'rego'], folder);
	});
}

function readLibrary(): Promise<readonly RegoFile[]> {
	const paths = ['regolith/compare/compare.rego', 'regolith/instant/instant.rego'];
	return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, 'policy', path), 'utf8') })));
}

const builtIn = {
	user: ['key', 'roles', 'tenants'],
	resource: ['key', 'type', 'tenant'],
	tenant: ['key'],
	context: [],
};

/** Takes attributes from the input. The entrypoint selects sets by key, like an environment's rules. */
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

default related(_, _) := {}

related(type, key) := input.related[concat(":", [type, key])] if is_string(key)
`,
	},
	{
		path: 'regolith/rbac/rbac.rego',
		text: 'package regolith.rbac\n\nroles := {role: null | some role in input.user.roles}\n',
	},
	{ path: 'regolith/expiry/expiry.rego', text: 'package regolith.expiry\n\nlive(null)\n\nnow := input.now\n' },
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
