import { type CedarValueJson, preparsePolicySet, statefulIsAuthorized } from '@cedar-policy/cedar-wasm/nodejs';
import { newEnforcer, newModel, StringAdapter } from 'casbin';
import { compile, documentBytes } from '../../compiler/index.js';
import { buildWasm, readPolicyLibrary } from '../../compiler/opa/build.js';
import { unpack } from '../../src/bundle/bundle.js';
import { normalise } from '../../src/pdp/decide/normalise.js';
import { Engine } from '../../src/pdp/engine/engine.js';
import * as world from './world.js';

/** The compared engines, each loaded with the same world. */

/** Decides a check. */
export type Decide = (body: world.Question['body']) => boolean;

/** Returns a Regolith engine with policy and data. */
export async function regolithEngine(): Promise<{
	readonly module: Uint8Array;
	readonly data: Uint8Array;
	decide: Decide;
}> {
	const compiled = compile(world.model);
	if (!('policy' in compiled)) throw new Error(`the model does not compile: ${JSON.stringify(compiled.diagnostics)}`);
	const opa = process.env['OPA_PATH'] ?? '.tools/opa';
	const files = [...(await readPolicyLibrary()), ...compiled.policy];
	const module = (await unpack(await buildWasm({ opa, files }))).get('policy.wasm') ?? new Uint8Array();
	const data = documentBytes(world.model);
	const engine = await Engine.load(await WebAssembly.compile(module), data);
	const time = Date.now();
	const decide: Decide = ({ user, action, resource }) =>
		engine.code(normalise({ user: { key: user }, action, resource }, time)) === 'allow';
	return { module, data, decide };
}

/** Returns Casbin with an enforcer for each permission. An enforcer contains only the rules for its permission. */
export async function casbin(): Promise<Decide> {
	const lines = (rows: readonly (readonly string[])[]) => rows.map((row) => row.join(', ')).join('\n');
	const text = (request: string, policy: string, matcher: string, groups: string) =>
		newModel(
			`[request_definition]\nr = ${request}\n[policy_definition]\np = ${policy}\n${groups}[policy_effect]\ne = some(where (p.eft == allow))\n[matchers]\nm = ${matcher}\n`,
		);
	const inDomain = '[role_definition]\ng = _, _, _\n';
	const reads = await newEnforcer(
		text('sub, dom', 'sub', 'g(r.sub, p.sub, r.dom)', inDomain),
		new StringAdapter(
			lines([
				...world.readers.map((role) => ['p', role]),
				...world.assignments.map(({ user, role, tenant }) => ['g', user, role, tenant]),
			]),
		),
	);
	// Editors inherit their folder's role, and the folder inherits the role of each document in it.
	const edits = await newEnforcer(
		text('sub, obj', 'act', 'g(r.sub, r.obj)', '[role_definition]\ng = _, _\n'),
		new StringAdapter(
			lines([
				['p', 'edit'],
				...world.editors.map(({ user, folder }) => ['g', user, folder]),
				...world.documents.map((document, index) => ['g', world.folders[world.folderIndex(index)] ?? '', document]),
			]),
		),
	);
	const opens = await newEnforcer(
		text('dep, cls', 'dep, cls', 'r.dep == p.dep && r.cls == p.cls', ''),
		new StringAdapter(lines(world.departments.map((index) => ['p', `department-${index}`, `class-${index}`]))),
	);
	const departments = new Map(world.users.map((user, index) => [user, `department-${world.departmentIndex(index)}`]));
	return ({ user, action, resource }) => {
		if (action === 'read') return reads.enforceSync(user, resource.tenant);
		if (action === 'edit') return edits.enforceSync(user, resource.key);
		return opens.enforceSync(departments.get(user), resource.attributes?.['class']);
	};
}

/** Returns Cedar with policies parsed once. Each check includes its entities, as the package requires. */
export async function cedar(): Promise<Decide> {
	const opens = world.departments.map(
		(index) =>
			`permit(principal, action == Action::"open", resource) when { principal.department == "department-${index}" && resource.class == "class-${index}" };`,
	);
	const policies = [
		'permit(principal, action == Action::"read", resource) when { principal in resource.readers };',
		'permit(principal, action == Action::"edit", resource) when { principal in resource.editors };',
		...opens,
	].join('\n');
	const parsed = preparsePolicySet('world', { staticPolicies: policies });
	if (parsed.type === 'failure') throw new Error(JSON.stringify(parsed.errors));
	const held = new Map<string, string[]>(world.users.map((user) => [user, []]));
	for (const { user, role, tenant } of world.assignments) held.get(user)?.push(`${tenant}#${role}`);
	for (const { user, folder } of world.editors) held.get(user)?.push(`${folder}#editor`);
	const departments = new Map(world.users.map((user, index) => [user, `department-${world.departmentIndex(index)}`]));
	const parents = new Map(
		world.documents.map((document, index) => [document, world.folders[world.folderIndex(index)] ?? '']),
	);
	const role = (id: string) => ({ __entity: { type: 'Role', id } });
	return ({ user, action, resource }) => {
		const principal = { type: 'User', id: user };
		const target = { type: 'Resource', id: resource.key ?? resource.tenant };
		const attrs: Record<string, CedarValueJson> =
			action === 'read'
				? { readers: world.readers.map((name) => role(`${resource.tenant}#${name}`)) }
				: action === 'edit'
					? { editors: role(`${parents.get(resource.key ?? '')}#editor`) }
					: { class: resource.attributes?.['class'] ?? '' };
		const answer = statefulIsAuthorized({
			principal,
			action: { type: 'Action', id: action },
			resource: target,
			context: {},
			preparsedPolicySetId: 'world',
			entities: [
				{
					uid: principal,
					attrs: { department: departments.get(user) ?? '' },
					parents: (held.get(user) ?? []).map((id) => ({ type: 'Role', id })),
				},
				{ uid: target, attrs, parents: [] },
			],
		});
		return answer.type === 'success' && answer.response.decision === 'allow';
	};
}
