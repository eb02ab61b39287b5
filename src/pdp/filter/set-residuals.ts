/**
 * Residuals of condition set rules. User sets that do not depend on the row are decided, and all other sets remain as
 * conditions.
 */

import { isAsked } from '../../../compiler/condition/attribute.js';
import type { AttributePath } from '../../../compiler/condition/condition.js';
import type { PatternMatcher } from '../../../compiler/condition/operator.js';
import { lookUp } from '../../../compiler/condition/value.js';
import type { Json } from '../../../compiler/model.js';
import { Pauses, type Steps } from '../../../compiler/steps.js';
import { type Failure, unprocessable } from '../../failure.js';
import { everyRow, noRow, type Residual } from '../../filter/residual.js';
import { type Resolved, residualOfCondition } from '../../filter/residual-of-condition.js';
import { distinctItems, simplifyResidual } from '../../filter/simplify-residual.js';
import type { FilterInput } from '../decide/normalise.js';
import { sortedTexts } from '../engine/chunks.js';
import type { ReadSet, RuleOfSets, SetType } from '../facts/condition-sets.js';
import { ConditionSubject } from '../facts/condition-subject.js';
import type { FactsIndex } from '../facts/facts-index.js';
import type { RulesOfAction, SetChain } from './rules-of-action.js';

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

/** Instance keys, by tenant number and by the user's role on the instances. */
export type KeysByRole = ReadonlyMap<number, ReadonlyMap<string, readonly string[]>>;

/** Tenants whose rows a filter needs. */
export interface TenantsWanted {
	/** The request's tenant; without it, all existing tenants. */
	readonly given: number | undefined;
	/** Tenants in which the user holds a role. */
	readonly members: Iterable<number>;
	/** Tenants whose rows are all granted. They are omitted. */
	readonly open: { has(tenant: number): boolean };
}

/** Maximum rule count in a filter. Each rule counts once per tenant group. */
const mostRules = 5_000;
/** Maximum number of rules to try, summed over all groups. */
const mostTries = 5_000_000;

/** Calculates the rows granted by an action's rules. */
export class SetResiduals {
	readonly #facts: FactsIndex;
	readonly #input: FilterInput;
	readonly #matches: PatternMatcher;
	readonly #subject: ConditionSubject;
	readonly #rules: RulesOfAction;
	/** Sorted instance keys in the present tenant, by the user's role on the instance. */
	#keysByRole: ReadonlyMap<string, readonly string[]> = new Map();

	constructor(
		rules: RulesOfAction,
		{ facts, time }: { readonly facts: FactsIndex; readonly time: number },
		input: FilterInput,
		matches: PatternMatcher,
	) {
		this.#rules = rules;
		this.#facts = facts;
		this.#input = input;
		this.#matches = matches;
		this.#subject = new ConditionSubject(facts, time, { context: input.context });
		this.#subject.setUser(input.user.key, input.user.attributes);
	}

	/**
	 * Groups tenants by the rows that rules grant there. Omits tenants without granted rows. `held` contains the keys of
	 * the instances on which the user holds each named role, by tenant.
	 */
	*groups({ given, members, open }: TenantsWanted, held: KeysByRole): Steps<readonly TenantGroup[]> {
		const { tenants } = this.#facts;
		const { reads } = this.#rules;
		if (given === undefined && (reads.roles || reads.tenant)) yield* this.#subject.readingAllRoles();
		const differing = new Set([...members, ...held.keys()]);
		const wanted = given === undefined ? [...differing].filter((tenant) => tenants.at(tenant) !== undefined) : [given];
		const groups = new Map<string, number[]>();
		const pauses = new Pauses();
		const add = (name: string, tenant: number) => {
			const group = groups.get(name);
			if (group === undefined) groups.set(name, [tenant]);
			else group.push(tenant);
		};
		for (const tenant of wanted) {
			if (pauses.step()) yield;
			if (open.has(tenant)) continue;
			this.#subject.setResource({ type: this.#input.resource.type, tenant }, undefined);
			const isOwn = reads.tenant || held.has(tenant);
			add(isOwn ? `${tenant}` : reads.roles ? JSON.stringify(this.#subject.roles) : '', tenant);
		}
		if (given === undefined) {
			const known = new Set(wanted);
			// Tenant attributes are visible only to users with a role in the tenant.
			const name = reads.tenant || reads.roles ? '[]' : '';
			for (const tenant of tenants.numbers()) {
				if (pauses.step()) yield;
				if (!known.has(tenant)) add(name, tenant);
			}
		}
		if (groups.size * this.#rules.rules.length > mostTries) throw tooManyRules();
		const found: TenantGroup[] = [];
		let count = 0;
		for (const group of groups.values()) {
			const rules = yield* this.#rulesIn(group[0] ?? -1, held);
			if (rules.length > 0) found.push({ tenants: group, rules });
			count += rules.length;
			if (count > mostRules) throw tooManyRules();
		}
		return found;
	}

	/** True if the residuals depend on the check time. */
	get readTime(): boolean {
		return this.#rules.reads.time;
	}

	/** Returns the rules that grant rows in a tenant. */
	*#rulesIn(tenant: number, held: KeysByRole): Steps<readonly RuleResidual[]> {
		this.#subject.setResource({ type: this.#input.resource.type, tenant }, undefined);
		const keysByRole = new Map<string, readonly string[]>();
		for (const [role, keys] of held.get(tenant) ?? []) {
			keysByRole.set(role, yield* distinctItems(yield* sortedTexts(keys)));
		}
		this.#keysByRole = keysByRole;
		const rules: RuleResidual[] = [];
		const known = new Map<SetChain, Residual>();
		const pauses = new Pauses(10);
		for (const { rule, users, resources } of this.#rules.rules) {
			if (pauses.step()) yield;
			const ofUsers = users.decides === undefined ? yield* this.#residual(users, known) : this.#decided(users.decides);
			if (ofUsers === noRow) continue;
			const ofResources = yield* this.#residual(resources, known);
			const parts = [ofUsers, ofResources];
			const residual = ofUsers === everyRow ? ofResources : yield* simplifyResidual({ kind: 'all', parts });
			if (residual.kind !== 'any' || residual.parts.length > 0) rules.push({ rule, residual });
		}
		return rules;
	}

	#decided(decides: NonNullable<SetChain['decides']>): Residual {
		return decides(this.#subject) ? everyRow : noRow;
	}

	/**
	 * Returns the rows that a set and all its ancestors select. Always returns the same object, `noRow`, if there are
	 * none.
	 */
	*#residual(chain: SetChain, known: Map<SetChain, Residual>): Steps<Residual> {
		const before = known.get(chain);
		if (before !== undefined) return before;
		const parts = chain.sets.map((set) => this.#ownResidual(chain.type, set));
		const simple = yield* simplifyResidual({ kind: 'all', parts });
		const residual = simple.kind === 'any' && simple.parts.length === 0 ? noRow : simple;
		known.set(chain, residual);
		return residual;
	}

	#ownResidual(type: SetType, { key, standsFor, condition }: ReadSet): Residual {
		if (standsFor !== undefined) {
			return type === 'resourceset' || this.#subject.roles.includes(standsFor) ? everyRow : noRow;
		}
		if (condition === undefined) return noRow;
		const keysWithRole = (role: string) => this.#keysByRole.get(role) ?? [];
		const [resolve, matches] = [this.#resolve, this.#matches];
		return residualOfCondition(condition, { name: key, resolve, matches, keysWithRole });
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
			// A key is a string, so it has no fields.
			return below.length > 0 ? { value: undefined } : { column: { kind: isKey ? 'key' : 'tenant' } };
		}
		if (object !== 'resource') return { value: ConditionSubject.reader(attribute)(this.#subject) };
		if (attributes !== undefined && Object.hasOwn(attributes, first)) {
			return { value: lookUp(attributes as Json, path) };
		}
		return { column: { kind: 'attribute', path } };
	};
}

function tooManyRules(): Failure {
	const msg = `the filter has more than ${mostRules} rules in different tenants, or too many tenants for its rules: specify a tenant`;
	return unprocessable([{ loc: ['body'], msg, type: 'filter_too_large' }]);
}
