/** An index of the data that the engine decides from, for listings: links that can be followed from both ends. */

import type { Json, Patch } from '../../../compiler/model.js';
import { runToEnd, type Steps } from '../../../compiler/steps.js';
import { copyEntries } from './copy-entries.js';
import { instanceType } from './instance-name.js';
import { InternedStrings } from './interned-strings.js';
import { jsonMember, jsonMembers, replaceAt } from './json-members.js';
import { JsonReader } from './json-reader.js';
import { Links } from './links.js';
import { MappingRules } from './mapping-rules.js';
import { SchemaTables } from './schema-tables.js';

/** How many members or patches are read between two pauses. */
const stride = 500;

/** One of the tables of facts. The path of an entry leads from the table to it. A path to clear may be shorter. */
interface Table {
	/** The length of an entry's path. */
	readonly depth: number;
	/** Whether the value at the end of a path carries no meaning. */
	readonly keysOnly?: true;
	add(path: readonly string[], value: Json): void;
	clear(path: readonly string[]): void;
}

/**
 * What listings need of one revision's data document: the index proposes, the engine decides. Instances are named
 * `<type>:<key>`, as in the document. It accepts whatever an engine accepts, and ignores what does not have the
 * expected shape. What has expired stays in it, and readers say the time. INVARIANT: after the patches from one document to another it equals an index of the other one.
 */
export class FactsIndex {
	readonly #names = new InternedStrings();
	/** From users to tenants, by roles. */
	readonly tenantRoles = new Links(this.#names);
	/** From users to instances, by roles. */
	readonly instanceRoles = new Links(this.#names);
	/** From objects to subjects, by relations. */
	readonly relations = new Links(this.#names);
	readonly #tenants = new Map<string, string>();
	readonly #users = new Set<string>();
	readonly #tenantAttributes = new Map<string, Json>();
	#schema = new SchemaTables(null);
	#mappingRules = new MappingRules(null);
	/** The indexed tables by name. The others repeat these, or listings do not need them. */
	readonly #tables: ReadonlyMap<string, Table> = new Map([
		['instances', tenantTable(this.#tenants)],
		['relations', relationTable(this.relations)],
		['tenant_roles', tenantRoleTable(this.tenantRoles)],
		['tenants', attributeTable(this.#tenantAttributes)],
		['user_roles', instanceRoleTable(this.instanceRoles)],
		['users', userTable(this.#users)],
	]);

	/** Reads the bytes of a data document. Throws `EngineError` when they are not JSON. */
	static read(bytes: Uint8Array): FactsIndex {
		return runToEnd(FactsIndex.reading(bytes));
	}

	/** As `read`, in steps. */
	static *reading(bytes: Uint8Array): Steps<FactsIndex> {
		const index = new FactsIndex();
		const reader = new JsonReader(bytes);
		for (const name of membersIn(reader)) {
			if (name === 'regolith') yield* index.#readParts(reader);
			else yield* reader.skipping();
		}
		return index;
	}

	/** A copy of this index. Nobody may change the index meanwhile. */
	*copying(): Steps<FactsIndex> {
		const copy = new FactsIndex();
		yield* copy.#names.copyingFrom(this.#names);
		yield* copy.tenantRoles.copyingFrom(this.tenantRoles);
		yield* copy.instanceRoles.copyingFrom(this.instanceRoles);
		yield* copy.relations.copyingFrom(this.relations);
		yield* copyEntries(this.#tenants, (instance, tenant) => copy.#tenants.set(instance, tenant));
		yield* copyEntries(this.#users.entries(), (user) => copy.#users.add(user));
		yield* copyEntries(this.#tenantAttributes, (tenant, value) => copy.#tenantAttributes.set(tenant, value));
		copy.#schema = this.#schema;
		copy.#mappingRules = this.#mappingRules;
		return copy;
	}

	/** The tables of the schema. */
	get schema(): SchemaTables {
		return this.#schema;
	}

	/** The mapping rules of all proxy configs. */
	get mappingRules(): MappingRules {
		return this.#mappingRules;
	}

	/** How many names are stored. Nothing is kept of what was removed. */
	get size(): number {
		return this.#names.used + this.#tenants.size + this.#users.size + this.#tenantAttributes.size;
	}

	/** The keys of all users. The iterator becomes invalid when the index changes. */
	get users(): Iterable<string> {
		return this.#users;
	}

	/** Whether there is a user with this key. */
	hasUser(user: string): boolean {
		return this.#users.has(user);
	}

	/** The attributes of all tenants, by key. The iterator becomes invalid when the index changes. */
	get tenants(): ReadonlyMap<string, Json> {
		return this.#tenantAttributes;
	}

	/** The names of all instances. The iterator becomes invalid when the index changes. */
	get instances(): Iterable<string> {
		return this.#tenants.keys();
	}

	/** The tenant of an instance; `undefined` when there is no such instance. */
	tenantKey(instance: string): string | undefined {
		return this.#tenants.get(instance);
	}

	/** Applies the patches that the engine applied, in order. */
	patch(patches: readonly Patch[]): void {
		runToEnd(this.patching(patches));
	}

	/** As `patch`, in steps, for an index that nobody reads yet. */
	*patching(patches: readonly Patch[]): Steps<void> {
		for (const [index, patch] of patches.entries()) {
			if (index % stride === stride - 1) yield;
			this.#replace(patch.path, patch.op === 'upsert' ? patch.value : undefined);
		}
	}

	*#readParts(reader: JsonReader): Steps<void> {
		for (const part of membersIn(reader)) {
			if (part === 'facts') yield* this.#readFacts(reader);
			else if (part === 'schema') this.#schema = new SchemaTables(reader.value());
			else if (part === 'mapping_rules') this.#mappingRules = new MappingRules(reader.value());
			else yield* reader.skipping();
		}
	}

	*#readFacts(reader: JsonReader): Steps<void> {
		for (const name of membersIn(reader)) {
			const table = this.#tables.get(name);
			if (table === undefined) yield* reader.skipping();
			else yield* readTable(reader, table);
		}
	}

	/** Replaces everything at a path by a value. */
	#replace(path: readonly string[], value: Json | undefined): void {
		const [root, part, name, ...below] = path;
		if (root === undefined) this.#replace(['regolith'], jsonMember(value, 'regolith'));
		if (root !== 'regolith') return;
		if (part === undefined) {
			this.#replace(['regolith', 'facts'], jsonMember(value, 'facts'));
			this.#replace(['regolith', 'schema'], jsonMember(value, 'schema'));
			this.#replace(['regolith', 'mapping_rules'], jsonMember(value, 'mapping_rules'));
		} else if (part === 'schema') {
			this.#schema = new SchemaTables(replaceAt(this.#schema.value, path.slice(2), value) ?? null);
		} else if (part === 'mapping_rules') {
			this.#mappingRules = new MappingRules(replaceAt(this.#mappingRules.value, path.slice(2), value) ?? null);
		} else if (part === 'facts' && name === undefined) {
			for (const [table] of this.#tables) this.#replace(['regolith', 'facts', table], jsonMember(value, table));
		} else if (part === 'facts' && name !== undefined) {
			const table = this.#tables.get(name);
			if (table === undefined) return;
			if (below.length > table.depth) {
				// A deeper value creates the tables that are missing above it.
				if (table.keysOnly && value !== undefined) table.add(below.slice(0, table.depth), null);
				return;
			}
			table.clear(below);
			if (value !== undefined) fillTable(table, below, value);
		}
	}
}

/** The keys of the object that comes next. The caller reads the value of each. */
function* membersIn(reader: JsonReader): Iterable<string> {
	if (!reader.enter()) return;
	for (let key = reader.next(); key !== undefined; key = reader.next()) yield key;
}

function* readTable(reader: JsonReader, table: Table): Steps<void> {
	const path: string[] = [];
	if (!reader.enter()) return;
	for (let read = 1; ; read += 1) {
		if (read % stride === 0) yield;
		const key = reader.next();
		if (key === undefined) {
			if (path.pop() === undefined) return;
		} else if (path.length + 1 < table.depth) {
			if (reader.enter()) path.push(key);
		} else if (table.keysOnly) {
			reader.skip();
			table.add([...path, key], null);
		} else table.add([...path, key], reader.value());
	}
}

function fillTable(table: Table, path: readonly string[], value: Json): void {
	if (path.length === table.depth) table.add(path, value);
	else for (const [key, member] of jsonMembers(value)) fillTable(table, [...path, key], member);
}

/** Instance to tenant. */
function tenantTable(tenants: Map<string, string>): Table {
	return {
		depth: 1,
		add([instance = ''], tenant) {
			if (typeof tenant === 'string') tenants.set(instance, tenant);
		},
		clear([instance]) {
			if (instance === undefined) tenants.clear();
			else tenants.delete(instance);
		},
	};
}

/** Tenant to attributes, which are replaced as a whole. */
function attributeTable(attributes: Map<string, Json>): Table {
	return {
		depth: 1,
		add: ([name = ''], value) => attributes.set(name, value),
		clear([name]) {
			if (name === undefined) attributes.clear();
			else attributes.delete(name);
		},
	};
}

/** All users, whatever is stored with them. */
function userTable(users: Set<string>): Table {
	return {
		depth: 1,
		keysOnly: true,
		add: ([user = '']) => users.add(user),
		clear([user]) {
			if (user === undefined) users.clear();
			else users.delete(user);
		},
	};
}

/** Until when a fact holds, by what its table says of it; `null` for good. */
function expiryIn(value: Json): number | null {
	return typeof value === 'number' ? value : null;
}

/** Object to relation to subject. */
function relationTable(relations: Links): Table {
	return {
		depth: 3,
		add: ([object = '', relation = '', subject = ''], until) =>
			relations.add(object, subject, relation, expiryIn(until)),
		clear: ([object, relation, subject]) => relations.clear(object, subject, relation),
	};
}

/** Tenant to user to role. */
function tenantRoleTable(roles: Links): Table {
	return {
		depth: 3,
		add: ([tenant = '', user = '', role = ''], until) => roles.add(user, tenant, role, expiryIn(until)),
		clear: ([tenant, user, role]) => roles.clear(user, tenant, role),
	};
}

/** User to resource type to role to instance. The instance's name holds the type as well. */
function instanceRoleTable(roles: Links): Table {
	return {
		depth: 4,
		add: ([user = '', _type, role = '', instance = ''], until) => roles.add(user, instance, role, expiryIn(until)),
		clear([user, type, role, instance]) {
			if (user === undefined || type === undefined || instance !== undefined) {
				roles.clear(user, instance, role);
				return;
			}
			for (const [other, held] of [...roles.everFrom(user)]) {
				if (instanceType(other) === type && (role ?? held) === held) roles.clear(user, other, held);
			}
		},
	};
}
