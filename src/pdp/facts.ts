/** An index of the data that the engine decides from, for listings: what is linked, found from both sides. */

import type { Json, Patch } from '../../compiler/model.js';
import { JsonReader } from './json-reader.js';
import { Links } from './links.js';
import { memberOf, membersOf, replacedAt } from './members.js';
import { Names } from './names.js';
import { SchemaTables } from './schema-tables.js';

/** The tables that are indexed and how deep each one is. The others repeat these, or listings do not need them. */
const depths: ReadonlyMap<string, number> = new Map([
	['instances', 1],
	['instance_roles', 3],
	['relations', 3],
	['tenant_roles', 3],
]);

/**
 * What listings need of one revision's data document: it proposes, and the engine decides. Instances are named
 * `<type>:<key>`, as in the document. Takes whatever an engine takes; what is not shaped as expected is not there.
 * INVARIANT: after the patches from one document to another it is what reading the other one would give.
 */
export class FactsIndex {
	readonly #names = new Names();
	/** From tenants to users, by roles. */
	readonly tenantRoles = new Links(this.#names);
	/** From instances to users, by roles. */
	readonly instanceRoles = new Links(this.#names);
	/** From objects to subjects, by relations. */
	readonly relations = new Links(this.#names);
	readonly #tenants = new Map<string, string>();
	#schema = new SchemaTables(null);

	/** Reads the bytes of a data document. Throws `JsonReadError` when they are no JSON. */
	static read(bytes: Uint8Array): FactsIndex {
		const index = new FactsIndex();
		const reader = new JsonReader(bytes);
		const members = (readers: Readonly<Record<string, (key: string) => void>>) =>
			reader.object((key) => (readers[key] ?? (() => reader.skip()))(key));
		const table = (name: string) => index.#readTable(reader, name);
		members({
			regolith: () =>
				members({
					facts: () => members(Object.fromEntries([...depths.keys()].map((name) => [name, table]))),
					schema: () => {
						index.#schema = new SchemaTables(reader.value());
					},
				}),
		});
		return index;
	}

	/** The tables of the schema. */
	get schema(): SchemaTables {
		return this.#schema;
	}

	/** How many names are held: nothing is kept of what is gone. */
	get size(): number {
		return this.#names.used + this.#tenants.size;
	}

	/** The tenant of an instance; `undefined` when there is no such instance. */
	tenantOf(instance: string): string | undefined {
		return this.#tenants.get(instance);
	}

	/** Takes the patches that the engine took, in order. */
	patch(patches: readonly Patch[]): void {
		for (const patch of patches) this.#replace(patch.path, patch.op === 'upsert' ? patch.value : undefined);
	}

	/** Puts a value in the place of all that stands at a path. */
	#replace(path: readonly string[], value: Json | undefined): void {
		const [root, part, table, ...below] = path;
		if (root === undefined) this.#replace(['regolith'], memberOf(value, 'regolith'));
		if (root !== 'regolith') return;
		if (part === undefined) {
			this.#replace(['regolith', 'facts'], memberOf(value, 'facts'));
			this.#replace(['regolith', 'schema'], memberOf(value, 'schema'));
		} else if (part === 'schema') {
			this.#schema = new SchemaTables(replacedAt(this.#schema.value, path.slice(2), value) ?? null);
		} else if (part === 'facts' && table === undefined) {
			for (const name of depths.keys()) this.#replace(['regolith', 'facts', name], memberOf(value, name));
		} else if (part === 'facts' && table !== undefined) {
			const depth = depths.get(table) ?? 0;
			if (below.length > depth) return;
			this.#clear(table, below);
			if (value !== undefined) this.#fill(table, below, depth, value);
		}
	}

	#fill(table: string, path: readonly string[], depth: number, value: Json): void {
		if (path.length === depth) this.#add(table, path, value);
		else for (const [key, member] of membersOf(value)) this.#fill(table, [...path, key], depth, member);
	}

	#readTable(reader: JsonReader, table: string): void {
		if (table === 'instances') {
			reader.object((instance) => this.#add(table, [instance], reader.value()));
			return;
		}
		const add = this.#adder(table);
		reader.object((first) =>
			reader.object((second) =>
				reader.object((third) => {
					reader.skip();
					add(first, second, third);
				}),
			),
		);
	}

	#add(table: string, path: readonly string[], value: Json): void {
		const [first, second, third] = path;
		if (first === undefined) return;
		if (table === 'instances') {
			if (typeof value === 'string') this.#tenants.set(first, value);
		} else if (second !== undefined && third !== undefined) {
			this.#adder(table)(first, second, third);
		}
	}

	/** Relations stand between their two ends, roles after them. */
	#adder(table: string): (first: string, second: string, third: string) => void {
		if (table === 'relations') return (object, relation, subject) => this.relations.add(object, subject, relation);
		const links = table === 'tenant_roles' ? this.tenantRoles : this.instanceRoles;
		return (place, user, role) => links.add(place, user, role);
	}

	#clear(table: string, [first, second, third]: readonly string[]): void {
		if (table === 'instances') {
			if (first === undefined) this.#tenants.clear();
			else this.#tenants.delete(first);
		} else if (table === 'relations') this.relations.clear(first, third, second);
		else if (table === 'tenant_roles') this.tenantRoles.clear(first, second, third);
		else if (table === 'instance_roles') this.instanceRoles.clear(first, second, third);
	}
}
