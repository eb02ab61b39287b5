import type { Document, Json } from './documents.js';
import type { Query } from './query.js';

/** An exported document. */
export type Exported = Document & Json;

/** Keys for questions about documents. */
export interface Names {
	readonly users: readonly string[];
	readonly tenants: readonly string[];
	/** Actions, keyed by resource type. */
	readonly actions: ReadonlyMap<string, readonly string[]>;
	readonly instances: readonly { readonly type: string; readonly key: string; readonly tenant: string }[];
}

/** Collects the names in all documents. */
export function namesIn(documents: readonly Exported[]): Names {
	const keys = (member: (document: Exported) => object) => [
		...new Set(documents.flatMap((document) => Object.keys(member(document)))),
	];
	const types = keys(({ schema }) => schema.resources);
	const instances = documents.flatMap(({ facts }) =>
		Object.entries(facts['resource_instances'] as Readonly<Record<string, { readonly tenant: string }>>).map(
			([name, { tenant }]) => JSON.stringify([...name.split(':'), tenant]),
		),
	);
	return {
		users: keys(({ facts }) => facts.users),
		tenants: keys(({ facts }) => facts.tenants),
		actions: new Map(types.map((type) => [type, keys(({ schema }) => schema.resources[type]?.actions ?? {})])),
		instances: [...new Set(instances)].map((text) => {
			const [type, key, tenant] = JSON.parse(text) as [string, string, string];
			return { type, key, tenant };
		}),
	};
}

/** A check in a tenant. */
export interface NamedQuery extends Query {
	readonly resource: { readonly type: string; readonly tenant: string; readonly key?: string };
}

/**
 * Returns checks for every user and action, on every resource type in every tenant, and on every instance in its own
 * tenant.
 */
export function crossProduct({ users, tenants, actions, instances }: Names): readonly NamedQuery[] {
	return [...actions].flatMap(([type, names]) => {
		const resources = [
			...tenants.map((tenant) => ({ type, tenant })),
			...instances.filter((instance) => instance.type === type),
		];
		return names.flatMap((action) =>
			resources.flatMap((resource) => users.map((key) => ({ user: { key }, action, resource }))),
		);
	});
}
