import { isAsked } from '../../../compiler/condition/attribute.js';
import type { ReadValue } from '../../../compiler/condition/compile-condition.js';
import type { AttributePath } from '../../../compiler/condition/condition.js';
import { compareValues, lookUp } from '../../../compiler/condition/value.js';
import type { Attributes, Json } from '../../../compiler/model.js';
import { Pauses, type Steps } from '../../../compiler/steps.js';
import type { FactsIndex } from './facts-index.js';
import { instanceName, parseInstanceName } from './instance-name.js';
import { jsonMember } from './json-members.js';
import type { RolesByInstance } from './role-walk.js';

/** Attributes sent with a request. Each replaces the stored attribute with the same name. */
export type SentAttributes = Readonly<Record<string, unknown>> | undefined;

/** Resource of a check, in an existing tenant. */
export interface SubjectPlace {
	readonly type: string;
	/** The tenant's number. */
	readonly tenant: number;
	/** Key in the check; the key of the stored instance by default. */
	readonly key?: string | undefined;
}

/**
 * A check as conditions see it. The object is reused and changed for each check. Names are stored as numbers from the
 * facts index.
 */
export class ConditionSubject {
	#user: { readonly key: string; readonly number: number | undefined; readonly sent: SentAttributes } | undefined;
	#place: SubjectPlace | undefined;
	#instance: number | undefined;
	#roles: readonly string[] | undefined;
	#tenants: readonly string[] | undefined;
	/** The user's roles by tenant, sorted; see `readingAllRoles`. */
	#rolesByTenant: ReadonlyMap<number, readonly string[]> | undefined;
	/**
	 * Condition values of the assignment or relationship whose condition is evaluated; `{}` before the first evaluation.
	 */
	grant: Attributes = {};

	constructor(
		readonly facts: FactsIndex,
		readonly time: number,
		readonly sent: { readonly context: SentAttributes; readonly resource?: SentAttributes },
		/** Roles that the user holds on instances. */
		private readonly held: RolesByInstance = new Map(),
	) {}

	setUser(key: string, sent: SentAttributes): void {
		this.#user = { key, number: this.facts.names.number(key), sent };
		this.#roles = undefined;
		this.#tenants = undefined;
		this.#rolesByTenant = undefined;
	}

	/** Reads the user's roles in all tenants at once, for checks in many tenants. */
	*readingAllRoles(): Steps<void> {
		const { tenantRoles, names } = this.facts;
		const found = new Map<number, string[]>();
		const pauses = new Pauses();
		const user = this.#user?.number;
		for (const [tenant, role] of user === undefined ? [] : tenantRoles.numbersFrom(user, this.time)) {
			if (pauses.step()) yield;
			const roles = found.get(tenant);
			if (roles === undefined) found.set(tenant, [names.text(role)]);
			else roles.push(names.text(role));
		}
		for (const roles of found.values()) {
			if (pauses.step()) yield;
			roles.sort(compareValues);
		}
		this.#rolesByTenant = found;
		this.#roles = undefined;
	}

	/** Sets the resource, and its stored instance in the tenant; `undefined` if there is none. */
	setResource(place: SubjectPlace, instance: number | undefined): void {
		if (this.#place?.tenant !== place.tenant) this.#roles = undefined;
		this.#place = place;
		this.#instance = instance;
	}

	/** The user's roles in the tenant, sorted. */
	get roles(): readonly string[] {
		this.#roles ??=
			this.#rolesByTenant === undefined
				? this.#sortedLinks((tenant) => tenant === this.#place?.tenant, 1)
				: (this.#rolesByTenant.get(this.#place?.tenant ?? -1) ?? []);
		return this.#roles;
	}

	/** The user's roles on the stored instance. */
	get resourceRoles(): readonly string[] {
		return (this.#instance === undefined ? undefined : this.held.get(this.#instance)) ?? [];
	}

	static reader({ object, path }: AttributePath): ReadValue<ConditionSubject> {
		const [first = '', ...below] = path;
		const read = isAsked({ object, path }) ? askedReaders[`${object}.${first}`] : undefined;
		const whole = read ?? ConditionSubject.#attributeReader(object, first);
		return below.length === 0 ? whole : (subject) => lookUp(whole(subject) ?? null, below);
	}

	get userKey(): string | undefined {
		return this.#user?.key;
	}

	get resourceKey(): string | undefined {
		if (this.#instance === undefined) return this.#place?.key;
		return parseInstanceName(this.facts.names.text(this.#instance)).key;
	}

	get type(): string | undefined {
		return this.#place?.type;
	}

	get tenantKey(): string | undefined {
		return this.#place && this.facts.names.text(this.#place.tenant);
	}

	/** The tenants in which the user holds a role, sorted. */
	get tenants(): readonly string[] {
		this.#tenants ??= [...new Set(this.#sortedLinks(() => true, 0))];
		return this.#tenants;
	}

	/** Returns the stored attributes of an instance in the check's tenant; `{}` if there is none. */
	related(type: string, key: string): Json {
		const { names, instanceTenants, instanceAttributes } = this.facts;
		const instance = names.number(instanceName({ type, key }));
		const isHere = instance !== undefined && instanceTenants.at(instance) === this.#place?.tenant;
		return (isHere ? instanceAttributes.at(instance) : undefined) ?? {};
	}

	static #attributeReader(object: AttributePath['object'], name: string): ReadValue<ConditionSubject> {
		switch (object) {
			case 'user':
				return (subject) =>
					storedMember(subject.facts.userAttributes, subject.#user?.number, name, subject.#user?.sent);
			case 'resource':
				return (subject) =>
					storedMember(subject.facts.instanceAttributes, subject.#instance, name, subject.sent.resource);
			case 'tenant':
				return (subject) =>
					subject.#isMember ? storedMember(subject.facts.tenants, subject.#place?.tenant, name, undefined) : undefined;
			case 'context':
				return (subject) => member(subject.sent.context, name);
			case 'grant':
				return (subject) => member(subject.grant, name);
			case 'now':
				return (subject) => subject.time;
		}
	}

	/** True if conditions may see the tenant's attributes. */
	get #isMember(): boolean {
		return this.roles.length > 0 && this.facts.hasUser(this.#user?.key ?? '');
	}

	/** Returns tenants (`end` 0) or roles (`end` 1) from the user's roles in tenants. */
	#sortedLinks(isWanted: (tenant: number) => boolean, end: 0 | 1): readonly string[] {
		const { tenantRoles, names } = this.facts;
		const user = this.#user?.number;
		if (user === undefined) return [];
		const found: string[] = [];
		for (const link of tenantRoles.numbersFrom(user, this.time)) {
			if (isWanted(link[0])) found.push(names.text(link[end]));
		}
		return found.sort(compareValues);
	}
}

const askedReaders: Readonly<Record<string, ReadValue<ConditionSubject>>> = {
	'user.key': (subject) => subject.userKey,
	'user.roles': (subject) => subject.roles,
	'user.tenants': (subject) => subject.tenants,
	'user.resource_roles': (subject) => subject.resourceRoles,
	'resource.key': (subject) => subject.resourceKey,
	'resource.type': (subject) => subject.type,
	'resource.tenant': (subject) => subject.tenantKey,
	'tenant.key': (subject) => subject.tenantKey,
};

/** Returns a field; `undefined` if it is missing or null. */
function member(value: unknown, name: string): Json | undefined {
	return jsonMember(value as Json, name) ?? undefined;
}

/** Returns the attribute in the check, or else the stored attribute; `undefined` if both are missing or null. */
function storedMember(
	table: FactsIndex['tenants'],
	number: number | undefined,
	name: string,
	sent: SentAttributes,
): Json | undefined {
	if (sent !== undefined && Object.hasOwn(sent, name)) return member(sent, name);
	return number === undefined ? undefined : member(table.at(number), name);
}
