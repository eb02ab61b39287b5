/** Residuals of condition set rules: the user sets are decided, and the resource sets remain. */

import { isAsked } from '../../../compiler/condition/attribute.js';
import type { AttributePath } from '../../../compiler/condition/condition.js';
import type { PatternMatcher } from '../../../compiler/condition/operator.js';
import { attributesIn, durationsIn } from '../../../compiler/condition/parse/grammar.js';
import { lookUp } from '../../../compiler/condition/value.js';
import type { Json } from '../../../compiler/model.js';
import { Pauses, runToEnd, type Steps } from '../../../compiler/steps.js';
import { everyRow, noRow, type Residual } from '../../filter/residual.js';
import { type Resolved, residualOfCondition } from '../../filter/residual-of-condition.js';
import { simplifyResidual } from '../../filter/simplify-residual.js';
import type { FilterInput } from '../decide/normalise.js';
import { conditionSetsIn, type ReadSet, type RuleOfSets, type SetType } from '../facts/condition-sets.js';
import { ConditionSubject } from '../facts/condition-subject.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { jsonMembers } from '../facts/json-members.js';

/** A rule with the rows that it grants. */
export interface RuleResidual {
	readonly rule: RuleOfSets;
	readonly residual: Residual;
}

/** Tenants with equal residuals. */
export interface TenantGroup {
	/** Numbers of tenants. */
	readonly tenants: readonly number[];
	/** Rules that grant rows in these tenants. */
	readonly rules: readonly RuleResidual[];
}

/** Keys of instances by the number of the tenant, and by a role that the user holds on the instances. */
export type KeysByRole = ReadonlyMap<number, ReadonlyMap<string, readonly string[]>>;

/** Reads the rules for an action. */
export class SetResiduals {
	readonly #facts: FactsIndex;
	readonly #input: FilterInput;
	readonly #matches: PatternMatcher;
	readonly #subject: ConditionSubject;
	readonly #rules: readonly RuleOfSets[];
	/** Keys of the instances in the present tenant, by the role that the user holds on them. */
	#keysByRole: ReadonlyMap<string, readonly string[]> | undefined;
	readonly #reads: { readonly roles: boolean; readonly tenant: boolean; readonly time: boolean };

	constructor(facts: FactsIndex, input: FilterInput, time: number, matches: PatternMatcher) {
		this.#facts = facts;
		this.#input = input;
		this.#matches = matches;
		this.#subject = new ConditionSubject(facts, time, { context: input.context });
		this.#subject.setUser(input.user.key, input.user.attributes);
		this.#rules = rulesInForce(facts, input);
		this.#reads = this.#findReads();
	}

	/** Keys of the roles on the resource that rules name. */
	get rolesNamed(): ReadonlySet<string> {
		const sets = this.#rules.flatMap(({ userSet }) => this.#ancestry('userset', userSet));
		return new Set(sets.flatMap(({ roles }) => roles));
	}

	/** True if rules may grant rows. */
	get any(): boolean {
		return this.#rules.length > 0;
	}

	/**
	 * Groups tenants by the rows that rules grant in them. Tenants without such rows are omitted. `given` are the tenants
	 * of the request; without it, all tenants that exist. `members` are the tenants in which the user holds a role, and
	 * `held` are the keys of the instances on which the user holds each named role, by tenant.
	 */
	*groups(given: number | undefined, members: readonly number[], held: KeysByRole): Steps<readonly TenantGroup[]> {
		if (!this.any) return [];
		const { tenants } = this.#facts;
		const reads = this.#reads;
		const differing = new Set([...members, ...held.keys()]);
		const wanted = given === undefined ? [...differing].filter((tenant) => tenants.at(tenant) !== undefined) : [given];
		const groups = new Map<string, number[]>();
		const pauses = new Pauses();
		const add = (name: string, tenant: number) => {
			const group = groups.get(name);
			if (group === undefined) groups.set(name, [tenant]);
			else group.push(tenant);
			return pauses.step();
		};
		for (const tenant of wanted) {
			this.#subject.setResource({ type: this.#input.resource.type, tenant }, undefined);
			const isOwn = reads.tenant || held.has(tenant);
			const name = isOwn ? `${tenant}` : reads.roles ? JSON.stringify(this.#subject.roles) : '';
			if (add(name, tenant)) yield;
		}
		if (given === undefined) {
			const known = new Set(wanted);
			// Without a role in a tenant, the user sees none of its attributes.
			const name = reads.tenant || reads.roles ? '[]' : '';
			for (const tenant of tenants.numbers()) if (!known.has(tenant) && add(name, tenant)) yield;
		}
		const found: TenantGroup[] = [];
		for (const group of groups.values()) {
			const [first] = group;
			if (first === undefined) continue;
			this.#subject.setResource({ type: this.#input.resource.type, tenant: first }, undefined);
			const rules: RuleResidual[] = [];
			const known = new Map<string, Residual>();
			this.#keysByRole = held.get(first);
			for (const rule of this.#rules) {
				const users = this.#setResidual('userset', rule.userSet, known);
				if (users !== noRow) {
					const resources = this.#setResidual('resourceset', rule.resourceSet, known);
					const residual = yield* simplifyResidual({ kind: 'all', parts: [users, resources] });
					if (residual.kind !== 'any' || residual.parts.length > 0) rules.push({ rule, residual });
				}
				yield;
			}
			if (rules.length > 0) found.push({ tenants: group, rules });
		}
		return found;
	}

	/** True if the residuals depend on the time of the check. */
	get readTime(): boolean {
		return this.#reads.time;
	}

	/** Determines the facts on which the residuals depend in addition to the user and the context. */
	#findReads() {
		let [roles, tenant, time] = [false, false, false];
		for (const { userSet, resourceSet } of this.#rules) {
			for (const { standsFor, condition } of [
				...this.#ancestry('userset', userSet),
				...this.#ancestry('resourceset', resourceSet),
			]) {
				roles ||= standsFor !== undefined;
				time ||= condition !== undefined && durationsIn(condition).length > 0;
				for (const attribute of condition === undefined ? [] : attributesIn(condition)) {
					roles ||= attribute.object === 'user' && attribute.path[0] === 'roles';
					tenant ||= attribute.object === 'tenant' && !isAsked(attribute);
					time ||= attribute.object === 'now';
				}
			}
		}
		return { roles, tenant, time };
	}

	/** Returns the rows that a set and all its ancestors select. Always returns the same object, `noRow`, if there are none. */
	#setResidual(type: SetType, key: string, known: Map<string, Residual>): Residual {
		const name = `${type} ${key}`;
		const before = known.get(name);
		if (before !== undefined) return before;
		const parts = this.#ancestry(type, key).map((set) => this.#ownResidual(type, set));
		const simple = runToEnd(simplifyResidual({ kind: 'all', parts }));
		const residual = simple.kind === 'any' && simple.parts.length === 0 ? noRow : simple;
		known.set(name, residual);
		return residual;
	}

	#ownResidual(type: SetType, { key, standsFor, condition }: ReadSet): Residual {
		if (standsFor !== undefined) {
			return type === 'resourceset' || this.#subject.roles.includes(standsFor) ? everyRow : noRow;
		}
		if (condition === undefined) return noRow;
		const keysWithRole = (role: string) => this.#keysByRole?.get(role) ?? [];
		const [resolve, matches] = [this.#resolve, this.#matches];
		return residualOfCondition(condition, { name: key, resolve, matches, keysWithRole });
	}

	#ancestry(type: SetType, key: string): readonly ReadSet[] {
		return conditionSetsIn(this.#facts.schema).ancestry(type, this.#input.resource.type, key);
	}

	readonly #resolve = (attribute: AttributePath): Resolved => {
		const { object, path } = attribute;
		const [first = '', ...below] = path;
		const { type, tenant, attributes } = this.#input.resource;
		if (object === 'now') return { value: this.#subject.time };
		if (isAsked(attribute) && object !== 'user') {
			if (first === 'type') return { value: lookUp(type, below) };
			const isKey = first === 'key' && object === 'resource';
			if (!isKey && tenant !== undefined) return { value: lookUp(tenant, below) };
			// A key is text, so it has no fields.
			return below.length > 0 ? { value: undefined } : { column: { kind: isKey ? 'key' : 'tenant' } };
		}
		if (object !== 'resource') return { value: ConditionSubject.reader(attribute)(this.#subject) };
		if (attributes !== undefined && Object.hasOwn(attributes, first)) {
			return { value: lookUp(attributes as Json, path) };
		}
		return { column: { kind: 'attribute', path } };
	};
}

/** Returns the rules for the action that the active policy evaluates. */
function rulesInForce(facts: FactsIndex, { action, resource: { type } }: FilterInput): readonly RuleOfSets[] {
	const standing = facts.pendingAt('set_rules', type, action);
	if (standing === undefined) return [...conditionSetsIn(facts.schema).rules(type, action)];
	return jsonMembers(standing).flatMap(([userSet, resourceSets]) =>
		jsonMembers(resourceSets).map(([resourceSet]) => ({ userSet, resourceSet })),
	);
}
