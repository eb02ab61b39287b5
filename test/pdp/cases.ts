/** Golden cases served by decision points, and all possible checks on their models. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Model } from '../../compiler/model.js';
import type { DecisionPointOptions } from '../../src/pdp/endpoints.js';
import { root } from '../support/root.js';
import { snapshot } from './environment.js';
import { type Served, serve } from './served.js';

/** Reads a golden case's model. */
export async function readCaseModel(name: string): Promise<Model> {
	return JSON.parse(await readFile(join(root, 'test/case', name, 'model.json'), 'utf8')) as Model;
}

/** Serves a model until the test ends. */
export async function serving(
	t: ExecutionContext,
	model: Model,
	options: Partial<DecisionPointOptions> = {},
): Promise<Served> {
	const served = await serve(t, options);
	served.feed.publish({ revision: 7, snapshot: await snapshot({ revision: 7, model }) });
	await served.replica.reached(7);
	return served;
}

/**
 * Returns a check for every combination of user, action, instance (or none) and tenant. Includes a missing user,
 * action, instance and tenant.
 */
export function everyCheck({ schema, facts }: Model) {
	const tenants = [...facts.tenants.map(({ key }) => key), 'nowhere'];
	const checks = schema.resources.flatMap(({ key: type, actions }) => {
		const keys = facts.instances.flatMap((instance) => (instance.type === type ? [instance.key] : []));
		return [...actions.map(({ key }) => key), 'nothing'].flatMap((action) =>
			[undefined, 'none', ...keys].flatMap((key) =>
				tenants.map((tenant) => ({ action, resource: { type, key, tenant } })),
			),
		);
	});
	return checks.flatMap((check) => [...facts.users, 'nobody'].map((user) => ({ user, ...check })));
}

/** Returns all allowed checks on a model, as JSON. */
export async function allowedChecks({ http }: Served, model: Model): Promise<ReadonlySet<string>> {
	const checks = everyCheck(model);
	const { body } = await http.post<{ allow: { allow: boolean }[] }>('/allowed/bulk', checks);
	return new Set(checks.flatMap((check, index) => (body.allow[index]?.allow ? [JSON.stringify(check)] : [])));
}
