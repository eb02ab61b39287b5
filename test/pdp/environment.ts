import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { compile, documentBytes, patchDocument } from '../../compiler/index.js';
import type { Model, Patch, RegoFile, Role } from '../../compiler/model.js';
import { buildWasm, entrypoints, readPolicyLibrary } from '../../compiler/opa/build.js';
import { manifest, manifestFile, unpack } from '../../src/bundle/bundle.js';
import { pack } from '../../src/bundle/pack.js';
import { createLogger } from '../../src/log.js';
import { root } from '../support/root.js';

/** Environments as the control plane would publish them, built with the real compiler and the real opa. */

/** Environment id in these tests. */
export const environment = '0190c1b0-0000-7000-8000-000000000001';

/** Silent log. */
export const quiet = createLogger('silent');

/** A small environment. In the tenant `acme`, ann edits documents and ben reads documents. `idle` has no role. */
export const acme: Model = {
	schema: {
		condition_sets: [],
		set_rules: [],
		resources: [resource('document', ['read', 'write']), resource('empty', [])],
		roles: [role('reader', ['read']), { ...role('editor', ['write']), extends: ['reader'] }],
	},
	facts: {
		user_attributes: [],
		instance_attributes: [],
		users: ['ann', 'ben', 'idle'],
		tenants: [
			{ key: 'acme', attributes: { paid: true, seats: 3 } },
			{ key: 'default', attributes: {} },
		],
		role_assignments: [
			{ user: 'ann', role: 'editor', tenant: 'acme' },
			{ user: 'ben', role: 'reader', tenant: 'acme' },
			{ user: 'ben', role: 'editor', tenant: 'default' },
		],
		instances: [],
		instance_assignments: [],
		relationships: [],
	},
};

/** The `acme` environment with an additional resource type, which changes the policy. */
export const acmeWithInvoices: Model = {
	...acme,
	schema: { ...acme.schema, resources: [...acme.schema.resources, resource('invoice', ['pay'])] },
};

/** The `acme` environment with enough additional resource types to change all addresses in the compiled policy. */
export const acmeWithMuch: Model = {
	...acme,
	schema: {
		...acme.schema,
		resources: [
			...acme.schema.resources,
			...Array.from({ length: 60 }, (_, index) => resource(`much-${index}`, ['see', `touch-${index}`])),
		],
	},
};

/** Returns a resource type with these actions. */
export function resource(key: string, actions: readonly string[]) {
	return {
		key,
		name: key,
		description: null,
		actions: actions.map((action) => ({ key: action, name: action, description: null })),
		roles: [],
		relations: [],
	};
}

function role(key: string, actions: readonly string[]): Role {
	const permissions = actions.map((action) => ({ resource: 'document', action }));
	return { key, name: key, description: null, permissions, extends: [] };
}

const opa = process.env['OPA_PATH'] ?? join(root, '.tools/opa');
const built = new Map<string, Promise<Uint8Array>>();

/** Returns the WASM for a model's policy. It is built only once for each schema in a process. */
export function policyWasm(model: Model): Promise<Uint8Array> {
	const key = JSON.stringify(model.schema);
	const known = built.get(key) ?? build(model);
	built.set(key, known);
	return known;
}

async function build(model: Model): Promise<Uint8Array> {
	const compiled = compile(model);
	if (!('policy' in compiled)) throw new Error(`the model does not compile: ${JSON.stringify(compiled.diagnostics)}`);
	return wasmFrom([...(await readPolicyLibrary()), ...compiled.policy]);
}

/** Compiles a policy with the usual entrypoints to WASM. */
export async function wasmFrom(files: readonly RegoFile[]): Promise<Uint8Array> {
	const wasm = (await unpack(await buildWasm({ opa, files }))).get('policy.wasm');
	if (wasm === undefined) throw new Error('opa built no module');
	return wasm;
}

/** Returns the model's data in bundle form. */
export const modelData = (model: Model): Uint8Array => documentBytes(model);

/** Parts of a bundle. Missing parts have default values. */
export interface BundleParts {
	readonly revision: number;
	readonly model: Model;
	/** Replaces the usual environment id. */
	readonly environment?: string;
	readonly lineage?: string;
	readonly formerLineages?: readonly string[];
}

/** Packs a snapshot bundle. */
export async function snapshot({
	revision,
	model,
	environment: id = environment,
	lineage = '',
	formerLineages = [],
}: BundleParts): Promise<Uint8Array> {
	const wasm = await policyWasm(model);
	const kind = { kind: 'snapshot', formerLineages } as const;
	const about = { lineage, revision, environment: id, policy: digest(wasm), entrypoints, step: kind };
	return pack([
		manifestFile(manifest(about)),
		{ path: 'data.json', bytes: modelData(model) },
		{ path: 'policy.wasm', bytes: wasm },
	]);
}

/** Parts of a step from the revision `base` to `revision`. */
export interface StepParts {
	readonly base: number;
	readonly revision: number;
	readonly patches: readonly Patch[];
	/** A new policy, which makes the step a policy bundle. */
	readonly wasm?: Uint8Array;
	readonly lineage?: string;
}

/** Packs a delta bundle, or a policy bundle if there is a new policy. */
export async function step({ base, revision, patches, wasm, lineage = '' }: StepParts): Promise<Uint8Array> {
	const kind = wasm === undefined ? 'delta' : 'policy';
	return pack([
		manifestFile(manifest({ lineage, revision, environment, policy: 'unused', step: { kind, base } })),
		{ path: 'patch.json', bytes: Buffer.from(JSON.stringify(patchDocument(patches))) },
		...(wasm === undefined ? [] : [{ path: 'policy.wasm', bytes: wasm }]),
	]);
}

/** Returns the patches that give a user exactly these roles in a tenant. */
export function assign(user: string, tenant: string, roles: readonly string[]): readonly Patch[] {
	const inTenant = ['regolith', 'facts', 'tenant_roles', tenant, user];
	const ofUser = ['regolith', 'facts', 'users', user, tenant];
	if (roles.length === 0)
		return [
			{ op: 'remove', path: inTenant },
			{ op: 'remove', path: ofUser },
		];
	const held = Object.fromEntries(roles.map((key) => [key, null]));
	return [
		{ op: 'upsert', path: inTenant, value: held },
		{ op: 'upsert', path: ofUser, value: null },
	];
}

function digest(bytes: Uint8Array): string {
	return createHash('sha256').update(bytes).digest('hex');
}
