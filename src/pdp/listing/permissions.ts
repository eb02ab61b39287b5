/**
 * Lists a user's permissions in all tenants and on all instances, using set operations on the facts index. The policy
 * confirms a sample.
 */

import { z } from 'zod';
import { Pauses, type Steps } from '../../../compiler/steps.js';
import { UserPermissions } from '../../wire/decision/check.js';
import type { DecisionContext } from '../decide/decide.js';
import type { PermissionsInput } from '../decide/normalise.js';
import { forEachChunk, sortedBy } from '../engine/chunks.js';
import { isSameJson } from '../engine/is-same-json.js';
import { objectChunks } from '../engine/json-chunks.js';
import { NeedsEngine } from '../facts/compiled-sets.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { GrantConditions } from '../facts/grant-conditions.js';
import { instanceName, instanceType, parseInstanceName } from '../facts/instance-name.js';
import { openedTenants } from '../facts/opened-tenants.js';
import { rolesOnInstances, type UserRoles } from '../facts/role-walk.js';
import { evaluateListing } from './evaluate-listing.js';
import { PermittedActions } from './permitted-actions.js';
import { answerWithReferee, randomItems, sampleSize } from './referee.js';

type Entry = UserPermissions[string];

const Tenant = z.object({ key: z.string(), attributes: z.unknown() });
const OnInstances = z.array(
	z.object({
		tenant: Tenant,
		resource: z.object({ type: z.string(), key: z.string(), attributes: z.unknown() }),
		permissions: z.array(z.string()),
		roles: z.array(z.string()),
	}),
);

const noRoles: UserRoles = { held: new Map(), reached: new Map() };

/**
 * Lists a user's permissions, as `UserPermissions` JSON. A user who does not exist has no permissions. Objects,
 * permissions and roles are sorted by code unit. Throws `Failure` (`unavailable`) if the policy returns no listing.
 */
export function* permissions(context: DecisionContext, input: PermissionsInput): Steps<readonly string[]> {
	const { facts, time } = context;
	// Queries for tenants alone are common, and need no expensive walk.
	const conditions = new GrantConditions(facts, { user: input.user, context: input.context }, time);
	const roles = onlyTenants(input) ? noRoles : yield* rolesOnInstances(facts, input.user, time, { conditions });
	const asked = {
		input,
		roles,
		tenants: yield* tenantsWanted(facts, input, time),
		instances: yield* instancesWanted(facts, input, time, roles),
	};
	const entries = yield* answerWithReferee(context, {
		fromFacts: () => entriesFromFacts(context, asked),
		isRight: (found) => agreesWithEngine(context, asked, found),
		byEngine: () => entriesByEngine(context, asked),
	});
	return yield* objectChunks(yield* sortedBy(entries, ([id]) => id));
}

/** Entries as JSON, keyed by object name. */
type Entries = Map<string, string>;

/** Entries from the engine, keyed by object name. */
type EngineEntries = ReadonlyMap<string, Entry>;

/** A query, with the numbers of the tenants and instances that may be listed. */
interface Asked {
	readonly input: PermissionsInput;
	readonly roles: UserRoles;
	readonly tenants: readonly number[];
	readonly instances: readonly number[];
}

function* entriesFromFacts({ facts, time }: DecisionContext, asked: Asked): Steps<Entries> {
	if (asked.roles.uncertain) throw new NeedsEngine('a condition of an assignment contains a regular expression');
	const { names, tenants, instanceTenants, instanceAttributes } = facts;
	const { user, context } = asked.input;
	const evaluated = asksForSets(asked.input) ? 'all' : 'like_roles';
	const rules = context?.['pdp_type'] === 'cloud' ? 'none' : evaluated;
	const permitted = new PermittedActions(facts, { user, context, time, rules, held: asked.roles.held });
	const texts = new Map<number, string | undefined>();
	const tenantText = (tenant: number | undefined) => {
		if (tenant === undefined) return undefined;
		if (!texts.has(tenant)) {
			const attributes = tenants.at(tenant);
			const about = { key: names.text(tenant), attributes };
			texts.set(tenant, attributes === undefined ? undefined : `"tenant":${JSON.stringify(about)}`);
		}
		return texts.get(tenant);
	};
	const entries: Entries = new Map();
	yield* forEachChunk(asked.tenants, (chunk) => {
		for (const number of chunk) {
			const tenant = tenantText(number);
			if (tenant !== undefined) {
				entries.set(`__tenant:${names.text(number)}`, `{${tenant},${permitted.tenantEntry(number)}}`);
			}
		}
	});
	yield* forEachChunk(asked.instances, (chunk) => {
		for (const instance of chunk) {
			const number = instanceTenants.at(instance);
			const tenant = tenantText(number);
			if (number === undefined || tenant === undefined) continue;
			const entry = permitted.instanceEntry(instance, number, asksForInstances(asked.input));
			if (entry === undefined) continue;
			const name = names.text(instance);
			// Written field by field, which takes half the time of a single call.
			const { type, key } = parseInstanceName(name);
			const [typeText, keyText] = [JSON.stringify(type), JSON.stringify(key)];
			const attributes = JSON.stringify(instanceAttributes.at(instance) ?? {});
			const resource = `{"type":${typeText},"key":${keyText},"attributes":${attributes}}`;
			entries.set(name, `{${tenant},"resource":${resource},${entry}}`);
		}
	});
	return entries;
}

function* entriesByEngine(context: DecisionContext, asked: Asked): Steps<Entries> {
	const entries: Entries = new Map();
	yield* evaluateEntries(context, asked, (id, entry) => entries.set(id, entryJson(entry)));
	return entries;
}

/** Evaluates the entries of all tenants and instances in a query, and passes each entry to `add`. */
function* evaluateEntries(
	context: DecisionContext,
	{ input, tenants, instances }: Asked,
	add: (id: string, entry: Entry) => unknown,
): Steps<void> {
	yield* forEachChunk(tenants, (some) => {
		for (const [id, entry] of tenantEntries(context, input, some)) add(id, entry);
	});
	yield* forEachChunk(instances, (some) => {
		for (const [id, entry] of instanceEntries(context, input, some)) add(id, entry);
	});
}

function tenantEntries(context: DecisionContext, input: PermissionsInput, numbers: readonly number[]): EngineEntries {
	if (numbers.length === 0) return new Map();
	const tenants = numbers.map((number) => context.facts.names.text(number));
	const question = { ...engineQuestion(context, input), tenants };
	const found = evaluateListing(context.engine, 'user_permissions', question, UserPermissions);
	return new Map(
		tenants.flatMap((tenant) => {
			const entry = found[`__tenant:${tenant}`];
			return entry === undefined ? [] : [[`__tenant:${tenant}`, entry] as const];
		}),
	);
}

function instanceEntries(context: DecisionContext, input: PermissionsInput, numbers: readonly number[]): EngineEntries {
	if (numbers.length === 0) return new Map();
	const instances = numbers.map((number) => parseInstanceName(context.facts.names.text(number)));
	const question = { ...engineQuestion(context, input), instances };
	const found = evaluateListing(context.engine, 'instance_permissions', question, OnInstances);
	return new Map(found.map((entry) => [instanceName(entry.resource), entry] as const));
}

function engineQuestion({ time }: DecisionContext, input: PermissionsInput) {
	const { user, context } = input;
	return { user, time, by_permission: asksForInstances(input), ...(context === undefined ? {} : { context }) };
}

/**
 * Compares a sample of listed and unlisted objects with the engine. The sample also has a few instances on which the
 * user must hold no role.
 */
function* agreesWithEngine(context: DecisionContext, asked: Asked, found: Entries): Steps<boolean> {
	const { names, instanceTenants } = context.facts;
	const quarter = sampleSize / 4;
	const tenants = randomItems(asked.tenants, quarter);
	const listed = randomItems([...found.keys()], quarter).flatMap((name) => names.number(name) ?? []);
	const instances = [
		...listed.filter((number) => instanceTenants.at(number) !== undefined),
		...randomItems(asked.instances, sampleSize - tenants.length - 2 * quarter),
	];
	const others = instanceTenants
		.random(onlyTenants(asked.input) ? 0 : quarter)
		.filter((number) => !asked.roles.reached.has(number));
	const byEngine = new Map<string, Entry>();
	const add = (id: string, entry: Entry) => byEngine.set(id, entry);
	yield* evaluateEntries(context, { ...asked, tenants, instances: [...instances, ...others] }, add);
	const isSame = (id: string) => {
		const [text, entry] = [found.get(id), byEngine.get(id)];
		if (text === undefined || entry === undefined) return text === undefined && entry === undefined;
		return isSameJson(JSON.parse(text), JSON.parse(entryJson(entry)));
	};
	return (
		tenants.every((number) => isSame(`__tenant:${names.text(number)}`)) &&
		instances.every((number) => isSame(names.text(number))) &&
		others.every((number) => (byEngine.get(names.text(number))?.roles ?? []).length === 0)
	);
}

/** Returns the numbers of the tenants that pass the filters and where the user holds a role. */
function* tenantsWanted(facts: FactsIndex, input: PermissionsInput, time: number): Steps<readonly number[]> {
	const filter = new ObjectFilter(input);
	const found = new Set<number>();
	const user = facts.names.number(input.user.key);
	const pauses = new Pauses();
	for (const [tenant] of user === undefined ? [] : facts.tenantRoles.numbersFrom(user, time)) {
		if (pauses.step()) yield;
		const key = facts.names.text(tenant);
		if (filter.passes('__tenant', `__tenant:${key}`, key, key)) found.add(tenant);
	}
	return [...found];
}

function onlyTenants({ resource_types }: PermissionsInput): boolean {
	return resource_types?.every((type) => type === '__tenant') ?? false;
}

/**
 * True if the input contains instances or types. The listing then includes instances on which the user has permissions
 * but no role.
 */
function asksForInstances({ resources, resource_types }: PermissionsInput): boolean {
	return resources !== undefined || resource_types !== undefined;
}

function asksForSets({ context }: PermissionsInput): boolean {
	return context?.['enable_abac_user_permissions'] === true;
}

/**
 * Returns the numbers of the instances that pass the filters and on which the user may hold a role. If the input
 * contains instances or types, adds instances on which tenant roles grant permissions. If it requests conditions, adds
 * instances of the given types on which condition sets may grant a permission.
 */
function* instancesWanted(
	facts: FactsIndex,
	input: PermissionsInput,
	time: number,
	{ reached }: UserRoles,
): Steps<readonly number[]> {
	if (onlyTenants(input)) return [];
	const { names, schema, instanceTenants } = facts;
	const filter = new ObjectFilter(input);
	const tenantsOpened = yield* openedTenants(facts, input.user.key, time);
	const { resource_types = [] } = input;
	const granted = new Set(asksForSets(input) ? resource_types.filter((type) => schema.setsMayGrant(type)) : []);
	const asks = asksForInstances(input);
	const opened = new Map<string, ReadonlySet<number>>();
	const found: number[] = [];
	const pauses = new Pauses();
	for (const number of asks ? instancesNamed(facts, input) : reached.keys()) {
		if (pauses.step()) yield;
		const tenant = instanceTenants.at(number);
		if (tenant === undefined) continue;
		const name = names.text(number);
		const type = instanceType(name);
		const tenants = opened.get(type) ?? tenantsOpened(type);
		opened.set(type, tenants);
		if (!reached.has(number) && !granted.has(type) && !tenants.has(tenant)) continue;
		if (filter.passes(type, name, name.slice(type.length + 1), names.text(tenant))) found.push(number);
	}
	return found;
}

/** Returns the numbers of the instances given by instance name or by bare key, or of all instances. */
function instancesNamed({ names, schema, instanceTenants }: FactsIndex, input: PermissionsInput): Iterable<number> {
	const { resources, resource_types = schema.types } = input;
	if (resources === undefined) return instanceTenants.numbers();
	const types = new Set(resource_types);
	const found = new Set<number>();
	for (const resource of new Set(resources)) {
		for (const name of [resource, ...Array.from(types, (type) => instanceName({ type, key: resource }))]) {
			const number = names.number(name);
			if (number !== undefined) found.add(number);
		}
	}
	return found;
}

class ObjectFilter {
	readonly #types: ReadonlySet<string> | undefined;
	readonly #resources: ReadonlySet<string> | undefined;
	readonly #tenants: ReadonlySet<string> | undefined;

	constructor({ resource_types, resources, tenants }: PermissionsInput) {
		this.#types = resource_types && new Set(resource_types);
		this.#resources = resources && new Set(resources);
		this.#tenants = tenants && new Set(tenants);
	}

	passes(type: string, id: string, key: string, tenant: string): boolean {
		return (
			(this.#types?.has(type) ?? true) &&
			(this.#resources === undefined || this.#resources.has(id) || this.#resources.has(key)) &&
			(this.#tenants === undefined || this.#tenants.has(tenant) || this.#tenants.has(`__tenant:${tenant}`))
		);
	}
}

function entryJson(entry: Entry): string {
	return JSON.stringify({ ...entry, permissions: entry.permissions.toSorted(), roles: entry.roles.toSorted() });
}
