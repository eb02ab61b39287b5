import type { Place } from './management.js';

/** Computes the users' roles on instances from the lists of assignments, relationships and derivations. */

interface Assignment {
	readonly user: string;
	readonly role: string;
	readonly resource_instance: string | null;
}

interface Tuple {
	readonly subject: string;
	readonly relation: string;
	readonly object: string;
}

interface Rule {
	readonly role: string;
	readonly on_resource: string;
	readonly linked_by_relation: string;
}

interface ResourceRole {
	readonly key: string;
	readonly granted_to: { readonly users_with_role: readonly Rule[] } | null;
}

/** Returns each user's direct and derived roles on instances, as `ann#editor@document:budget`; sorted. */
export async function derivedIn({ http, schema, facts }: Place): Promise<readonly string[]> {
	const all = async <R>(path: string) => (await http.get<readonly R[]>(`${path}?per_page=100`)).body;
	const assignments = await all<Assignment>(`${facts}/role_assignments`);
	const tuples = await all<Tuple>(`${facts}/relationship_tuples`);
	const resources = await all<{ readonly key: string }>(`${schema}/resources`);
	const rules: (Rule & { readonly resource: string; readonly derived: string })[] = [];
	for (const { key: resource } of resources) {
		for (const { key: derived, granted_to } of await all<ResourceRole>(`${schema}/resources/${resource}/roles`)) {
			for (const rule of granted_to?.users_with_role ?? []) rules.push({ ...rule, resource, derived });
		}
	}
	const held = new Set(
		assignments.flatMap(({ user, role, resource_instance }) =>
			resource_instance === null ? [] : [`${user}#${role}@${resource_instance}`],
		),
	);
	// Iterating over a set also visits the items added during the iteration.
	for (const one of held) {
		const [user = '', role = '', instance = ''] = one.split(/[#@]/);
		for (const { subject, relation, object } of tuples) {
			if (subject !== instance) continue;
			for (const rule of rules) {
				const from = rule.role === role && subject.startsWith(`${rule.on_resource}:`);
				const to = rule.linked_by_relation === relation && object.startsWith(`${rule.resource}:`);
				if (from && to) held.add(`${user}#${rule.derived}@${object}`);
			}
		}
	}
	return [...held].sort();
}
