import { everyone } from '../../../compiler/everyone.js';
import type { Json, Patch } from '../../../compiler/model.js';
import { runToEnd, type Steps } from '../../../compiler/steps.js';
import { ConditionalFacts } from './conditional-facts.js';
import { instanceType } from './instance-name.js';
import { InternedStrings } from './interned-strings.js';
import { jsonMember, jsonMembers, replaceAt, valueAt } from './json-members.js';
import { JsonReader } from './json-reader.js';
import { Links } from './links.js';
import { MappingRules } from './mapping-rules.js';
import { NamedJson, NamedValues } from './named-values.js';
import { SchemaTables } from './schema-tables.js';

/** Number of fields or patches read between two pauses. */
const stride = 500;

/** A facts table, with entries at paths of a fixed length. Clearing a shorter path clears all entries below it. */
interface Table {
	/** Entry path length. */
	readonly depth: number;
	/** True if only the path is relevant, and the value at its end has no meaning. */
	readonly keysOnly?: true;
	add(path: readonly string[], value: Json): void;
	/** Like `add`, for a value in JSON. Absent if values are always parsed. */
	addText?(path: readonly string[], text: string): void;
	clear(path: readonly string[]): void;
}

/**
 * Numeric store of a revision's facts, for listings, filters and attempts. Names are numbered, and each fact is stored
 * by its names' numbers. Instances are named `<type>:<key>`, as in the document. The index accepts the same documents
 * as an engine, and ignores values with an unexpected shape. Expired entries stay in the index, so readers pass the
 * time. INVARIANT: an index of a document, after patches, equals an index of the patched document.
 */
export class FactsIndex {
	/** Numbers of all names. A number may be reused when its name is removed from all tables. */
	readonly names = new InternedStrings();
	/** From users to tenants, with the role as key. */
	readonly tenantRoles = new Links(this.names);
	/** From users to instances, with the role as key. Roles assigned to everyone are linked from `everyone`. */
	readonly instanceRoles = new Links(this.names);
	/** Conditional assignments on instances. */
	readonly conditionalRoles = ConditionalFacts.ofRoles();
	readonly conditionalRelations = ConditionalFacts.ofRelationships();
	/** From objects to subjects, with the relation as key. */
	readonly relations = new Links(this.names);
	/** All tenants with their attributes. */
	readonly tenants = new NamedJson(this.names);
	/** All instances, each with its tenant's number. */
	readonly instanceTenants = new NamedValues<number>(this.names);
	readonly instanceAttributes = new NamedJson(this.names);
	readonly userAttributes = new NamedJson(this.names);
	readonly #users = new NamedValues<true>(this.names);
	#schema = new SchemaTables(null);
	#mappingRules = new MappingRules(null);
	#pending: Json | undefined;
	#contextualFacts: Json | undefined;
	/** Indexed tables, keyed by name. Other tables are redundant or not needed here. */
	readonly #tables: ReadonlyMap<string, Table> = new Map([
		['conditional_relations', conditionalTable(this.conditionalRelations, 4)],
		['conditional_roles', conditionalTable(this.conditionalRoles, 5)],
		['instance_attributes', attributeTable(this.instanceAttributes)],
		['instances', instanceTable(this.instanceTenants, this.names)],
		['relations', relationTable(this.relations)],
		['tenant_roles', tenantRoleTable(this.tenantRoles)],
		['tenants', attributeTable(this.tenants)],
		['user_attributes', attributeTable(this.userAttributes)],
		['user_roles', instanceRoleTable(this.instanceRoles)],
		['public_roles', publicRoleTable(this.instanceRoles)],
		['users', userTable(this.#users)],
	]);

	/** Reads a data document. Throws `EngineError` if the bytes are not JSON. */
	static read(bytes: Uint8Array): FactsIndex {
		return runToEnd(FactsIndex.reading(bytes));
	}

	/** Like `read`, in steps. */
	static *reading(bytes: Uint8Array): Steps<FactsIndex> {
		const index = new FactsIndex();
		const reader = new JsonReader(bytes);
		for (const name of membersIn(reader)) {
			if (name === 'regolith') yield* index.#readParts(reader);
			else yield* reader.skipping();
		}
		return index;
	}

	/** Copies this index. The index must not change while it is copied. */
	*copying(): Steps<FactsIndex> {
		const copy = new FactsIndex();
		yield* copy.names.copyingFrom(this.names);
		yield* copy.tenantRoles.copyingFrom(this.tenantRoles);
		yield* copy.instanceRoles.copyingFrom(this.instanceRoles);
		yield* copy.conditionalRoles.copyingFrom(this.conditionalRoles);
		yield* copy.conditionalRelations.copyingFrom(this.conditionalRelations);
		yield* copy.relations.copyingFrom(this.relations);
		for (const table of ['tenants', 'instanceAttributes', 'userAttributes'] as const) {
			copy[table].copyFrom(this[table]);
			yield;
		}
		copy.instanceTenants.copyFrom(this.instanceTenants);
		copy.#users.copyFrom(this.#users);
		copy.#schema = this.#schema;
		copy.#mappingRules = this.#mappingRules;
		copy.#pending = this.#pending;
		copy.#contextualFacts = this.#contextualFacts;
		return copy;
	}

	get schema(): SchemaTables {
		return this.#schema;
	}

	/** Mapping rules in all proxy configs. */
	get mappingRules(): MappingRules {
		return this.#mappingRules;
	}

	/** True if the active policy does not cover the whole schema, so part of the policy is suspended. */
	get pending(): boolean {
		return this.#pending !== undefined;
	}

	/** Returns a value from the table `pending`, which lists suspended grants. */
	pendingAt(...path: readonly string[]): Json | undefined {
		return valueAt(this.#pending, ...path);
	}

	/** True if checks may contain contextual facts. */
	get allowsContextualFacts(): boolean {
		return this.#contextualFacts !== undefined;
	}

	/**
	 * Returns the type of a relation's subjects; `undefined` if the relation does not exist or contextual facts are not
	 * allowed.
	 */
	subjectType(type: string, relation: string): string | undefined {
		const subject = valueAt(this.#contextualFacts, 'relations', type, relation);
		return typeof subject === 'string' ? subject : undefined;
	}

	/** Number of names in use. */
	get size(): number {
		return this.names.used;
	}

	/** All user keys. The iterator becomes invalid when the index changes. */
	get users(): Iterable<string> {
		return this.#users.keys();
	}

	/** All instance names. The iterator becomes invalid when the index changes. */
	get instances(): Iterable<string> {
		return this.instanceTenants.keys();
	}

	/** True if a role on an instance is assigned to everyone. */
	get hasPublicRoles(): boolean {
		for (const _ of this.instanceRoles.everFrom(everyone)) return true;
		return false;
	}

	/** Returns up to `count` random user keys. */
	randomUsers(count: number): readonly string[] {
		return this.#users.random(count).map((number) => this.names.text(number));
	}

	hasUser(user: string): boolean {
		return this.#users.has(user);
	}

	/** Returns an instance's tenant; `undefined` if the instance does not exist. */
	tenantKey(instance: string): string | undefined {
		const tenant = this.instanceTenants.get(instance);
		return tenant === undefined ? undefined : this.names.text(tenant);
	}

	/** Applies the same patches as the engine, in order. */
	patch(patches: readonly Patch[]): void {
		runToEnd(this.patching(patches));
	}

	/** Like `patch`, in steps, for an index that is not in use yet. */
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
			else if (part === 'pending') this.#pending = reader.value();
			else if (part === 'contextual_facts') this.#contextualFacts = reader.value();
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

	/** Replaces everything at a path with a value. */
	#replace(path: readonly string[], value: Json | undefined): void {
		const [root, part, name, ...below] = path;
		if (root === undefined) this.#replace(['regolith'], jsonMember(value, 'regolith'));
		if (root !== 'regolith') return;
		if (part === undefined) {
			this.#replace(['regolith', 'facts'], jsonMember(value, 'facts'));
			this.#replace(['regolith', 'schema'], jsonMember(value, 'schema'));
			this.#replace(['regolith', 'mapping_rules'], jsonMember(value, 'mapping_rules'));
			this.#replace(['regolith', 'pending'], jsonMember(value, 'pending'));
			this.#replace(['regolith', 'contextual_facts'], jsonMember(value, 'contextual_facts'));
		} else if (part === 'schema') {
			this.#schema = new SchemaTables(replaceAt(this.#schema.value, path.slice(2), value) ?? null);
		} else if (part === 'mapping_rules') {
			this.#mappingRules = new MappingRules(replaceAt(this.#mappingRules.value, path.slice(2), value) ?? null);
		} else if (part === 'pending') {
			this.#pending = replaceAt(this.#pending, path.slice(2), value);
		} else if (part === 'contextual_facts') {
			this.#contextualFacts = replaceAt(this.#contextualFacts, path.slice(2), value);
		} else if (part === 'facts' && name === undefined) {
			for (const [table] of this.#tables) this.#replace(['regolith', 'facts', table], jsonMember(value, table));
		} else if (part === 'facts' && name !== undefined) {
			const table = this.#tables.get(name);
			if (table === undefined) return;
			if (below.length > table.depth) {
				// Setting a value below an entry also creates the entry.
				if (table.keysOnly && value !== undefined) table.add(below.slice(0, table.depth), null);
				return;
			}
			table.clear(below);
			if (value !== undefined) fillTable(table, below, value);
		}
	}
}

/** Yields the keys of the next object. The caller must read each value. */
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
		} else if (table.addText !== undefined) table.addText([...path, key], reader.text());
		else table.add([...path, key], reader.value());
	}
}

function fillTable(table: Table, path: readonly string[], value: Json): void {
	if (path.length === table.depth) table.add(path, value);
	else for (const [key, member] of jsonMembers(value)) fillTable(table, [...path, key], member);
}

/** Maps an instance to its tenant. */
function instanceTable(instances: NamedValues<number>, names: InternedStrings): Table {
	let last = 0;
	const release = (tenant: number | undefined) => {
		if (tenant !== undefined) names.release(tenant);
	};
	return {
		depth: 1,
		add([instance = ''], tenant) {
			if (typeof tenant !== 'string') return;
			last = names.use(tenant, last);
			release(instances.set(instance, last));
		},
		clear([instance]) {
			if (instance === undefined) {
				const tenants = Array.from(instances, ([, tenant]) => tenant);
				instances.clear();
				tenants.forEach(release);
			} else release(instances.delete(instance));
		},
	};
}

/** Maps a name to its attributes. Attributes are replaced as a whole. */
function attributeTable(attributes: NamedJson): Table {
	return {
		depth: 1,
		add: ([name = ''], value) => attributes.set(name, value),
		addText: ([name = ''], text) => attributes.setText(name, text),
		clear: ([name]) => (name === undefined ? attributes.clear() : attributes.delete(name)),
	};
}

/** Contains all users, regardless of their values. */
function userTable(users: NamedValues<true>): Table {
	return {
		depth: 1,
		keysOnly: true,
		add: ([user = '']) => users.set(user, true),
		clear: ([user]) => (user === undefined ? users.clear() : users.delete(user)),
	};
}

/** Returns a fact's expiry from its table value; `null` if it does not expire. */
function expiryIn(value: Json): number | null {
	return typeof value === 'number' ? value : null;
}

/** Nested table: object, relation, subject. */
function relationTable(relations: Links): Table {
	return {
		depth: 3,
		add: ([object = '', relation = '', subject = ''], until) =>
			relations.add(object, subject, relation, expiryIn(until)),
		clear: ([object, relation, subject]) => relations.clear(object, subject, relation),
	};
}

/** Nested table: tenant, user, role. */
function tenantRoleTable(roles: Links): Table {
	return {
		depth: 3,
		add: ([tenant = '', user = '', role = ''], until) => roles.add(user, tenant, role, expiryIn(until)),
		clear: ([tenant, user, role]) => roles.clear(user, tenant, role),
	};
}

/** Nested table: user, resource type, role, instance, condition; or object, relation, subject, condition. */
function conditionalTable(facts: Pick<ConditionalFacts<never>, 'add' | 'clear'>, depth: number): Table {
	return { depth, add: (path, value) => facts.add(path, value), clear: (path) => facts.clear(path) };
}

/** Nested table: user, resource type, role, instance. Instance names also contain the type. */
function instanceRoleTable(roles: Links): Table {
	return {
		depth: 4,
		add: ([user = '', _type, role = '', instance = ''], until) => roles.add(user, instance, role, expiryIn(until)),
		clear([user, type, role, instance]) {
			if (user === undefined) {
				const open = [...roles.expiringFrom(everyone)];
				roles.clear(undefined, undefined, undefined);
				for (const [name, held, until] of open) roles.add(everyone, name, held, until);
				return;
			}
			if (type === undefined || instance !== undefined) {
				roles.clear(user, instance, role);
				return;
			}
			for (const [other, held] of [...roles.everFrom(user)]) {
				if (instanceType(other) === type && (role ?? held) === held) roles.clear(user, other, held);
			}
		},
	};
}

/**
 * Nested table: resource type, role, instance. Stores the roles as links from `everyone`, together with the links from
 * `instanceRoleTable`.
 */
function publicRoleTable(roles: Links): Table {
	const { add, clear } = instanceRoleTable(roles);
	return {
		depth: 3,
		add: (path, until) => add([everyone, ...path], until),
		clear: (path) => clear([everyone, ...path]),
	};
}
