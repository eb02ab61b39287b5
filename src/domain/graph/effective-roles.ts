import { computedStages } from '../../../compiler/computed-stages.js';
import { groupBy } from '../../../compiler/group-by.js';
import { holdsFormula, roleFormula, roleOperands } from '../../../compiler/role-expression.js';
import type { TupleStep } from '../../store/model/fact-edges.js';
import { factNames, roleAndRelationKeys } from '../../store/model/fact-names.js';
import { type ComputedRoleIds, computedRoleIds } from '../../store/model/graph-walk.js';
import {
	type HeldRole,
	type InstanceRelation,
	type RoleStep,
	rolesHeld,
	tuplesAt,
} from '../../store/model/role-steps.js';
import { groupsAmong } from '../../store/table/group/group.js';
import { memberKey } from '../../store/table/group/group-role.js';
import { type Role, rolesOfResources, rolesWithIds } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { instanceName } from '../../wire/common.js';
import { type EffectiveRole, type EffectiveRoles, maxEffectiveRoles } from '../../wire/facts/effective-role.js';
import { derivationSteps } from './derivation-steps.js';

/** Maximum number of relationships between an assigned role and a role derived from it. */
export const maxRoleSteps = 30;

/** Query for a user's roles. */
export interface RolesWanted {
	readonly user_id: string;
	/** Tenant id; `null` for all tenants. */
	readonly tenant_id: string | null;
	readonly limit: number;
}

/**
 * Returns a user's roles: assigned roles, roles from groups, derived and computed roles. Each role has its shortest
 * path.
 */
export async function effectiveRoles(
	unit: ReadingUnit,
	wanted: RolesWanted,
): Promise<Omit<EffectiveRoles, 'revision'>> {
	const { user_id, tenant_id, limit } = wanted;
	// Use a row limit that does not depend on the requested limit: the query plan depends on the row limit, and the
	// returned rows depend on the plan.
	const held = await rolesHeld(unit, user_id, tenant_id, maxEffectiveRoles + 1);
	const direct = held.slice(0, limit).map((assigned): Holding => ({ assigned, source: 'direct' }));
	let derived: Derived =
		held.length > limit ? { holdings: [], more: true } : await deriveRoles(unit, direct, direct, limit - direct.length);
	const computed: Holding[] = [];
	for (const stage of derived.more ? [] : await readStages(unit)) {
		const found = computedAmong(stage, [...direct, ...computed, ...derived.holdings]);
		computed.push(...found);
		if (found.some(({ assigned }) => stage.sources.has(assigned.role_id))) {
			derived = await deriveRoles(unit, direct, [...direct, ...computed], limit - direct.length);
		}
		if (derived.more) break;
	}
	const listed = await writeRoles(unit, [...direct, ...derived.holdings]);
	// Without all roles, it is unknown whether a user holds a role that a computed role excludes.
	const order = ({ resource_instance, role }: EffectiveRole) => JSON.stringify([resource_instance, role]);
	const last = derived.more ? [] : await writeRoles(unit, computed);
	const data = [...listed, ...last.toSorted((left, right) => (order(left) < order(right) ? -1 : 1))];
	return { data: data.slice(0, limit), truncated: derived.more || data.length > limit };
}

/** Computed roles that can be evaluated together, because they depend only on roles from earlier stages. */
interface ComputedStage {
	/** Roles on the same resources as the computed roles, by id. */
	readonly roles: ReadonlyMap<string, Role>;
	/** Computed role ids in this stage. */
	readonly ids: ReadonlySet<string>;
	/** Derivation sources, as role ids. */
	readonly sources: ReadonlySet<string>;
	/** Computed roles that cannot be decided from the user's own roles. */
	readonly undecided: ReadonlySet<string>;
}

/** Returns the computed roles in evaluation order. */
async function readStages(unit: ReadingUnit): Promise<readonly ComputedStage[]> {
	const computed = await computedRoleIds(unit);
	if (computed.length === 0) return [];
	const resourceIds = [...new Set(computed.map(({ resource_id }) => resource_id))];
	const roles = new Map((await rolesOfResources(unit, resourceIds).all()).map((role) => [role.id, role]));
	const steps = await derivationSteps(unit);
	const stageOf = computedStages(
		new Map(computed.map(({ role_id, operand_ids }) => [role_id, operand_ids])),
		steps.map(({ target_id: target, source_id: source }) => ({ target, source })),
	);
	const sources = new Set(steps.map(({ source_id }) => source_id));
	const undecided = await excludingEveryone(unit, roles, computed, steps);
	const staged = [...groupBy([...stageOf], ([, stage]) => stage)].sort(([left], [right]) => left - right);
	return staged.map(([, own]) => ({ roles, ids: new Set(own.map(([id]) => id)), sources, undecided }));
}

/**
 * Returns the ids of the computed roles that exclude a role everyone may hold, directly or by derivation. `roles`
 * contains all roles on the same resources.
 */
async function excludingEveryone(
	unit: ReadingUnit,
	roles: ReadonlyMap<string, Role>,
	computed: readonly ComputedRoleIds[],
	steps: readonly RoleStep[],
): Promise<ReadonlySet<string>> {
	const links = [
		...steps.map(({ source_id: source, target_id: target }) => ({ source, target })),
		...computed.flatMap(({ role_id: target, operand_ids }) => operand_ids.map((source) => ({ source, target }))),
	];
	const bySource = groupBy(links, ({ source }) => source);
	const open = new Set(
		(await rolesWithIds(unit, [...bySource.keys()]).all()).filter((role) => role.public).map(({ id }) => id),
	);
	// The iteration includes ids added during the loop.
	for (const id of open) for (const { target } of bySource.get(id) ?? []) open.add(target);
	const openNames = new Set([...roles.values()].filter(({ id }) => open.has(id)).map(nameOnResource));
	const excludes = ({ resource_id, computed: expression }: Role) =>
		expression !== null &&
		roleOperands(expression).some(
			({ role: key, negated }) => negated && openNames.has(nameOnResource({ resource_id, key })),
		);
	return new Set([...roles.values()].filter(excludes).map(({ id }) => id));
}

function nameOnResource({ resource_id, key }: Pick<Role, 'resource_id' | 'key'>): string {
	return `${resource_id} ${key}`;
}

/** Returns a stage's computed roles held by a user with these roles. */
function computedAmong({ roles, ids, undecided }: ComputedStage, holdings: readonly Holding[]): readonly Holding[] {
	const byInstance = groupBy(
		holdings.filter((holding) => heldState(holding).instance_id !== ''),
		(holding) => heldState(holding).instance_id,
	);
	const byResource = groupBy([...roles.values()], ({ resource_id }) => resource_id);
	return [...byInstance].flatMap(([instance_id, entries]) => {
		const [{ assigned }] = entries as [Holding, ...Holding[]];
		const held = new Set(entries.map((entry) => heldState(entry).role_id));
		const [resource] = entries.flatMap((entry) => roles.get(heldState(entry).role_id)?.resource_id ?? []);
		const siblings = new Map((byResource.get(resource ?? null) ?? []).map((role) => [role.key, role]));
		const holds = (key: string): boolean => {
			const role = siblings.get(key);
			if (role === undefined || undecided.has(role.id)) return false;
			return role.computed === null ? held.has(role.id) : holdsFormula(roleFormula(role.computed), holds);
		};
		return [...siblings.values()]
			.filter(({ id, key }) => ids.has(id) && holds(key))
			.map((role): Holding => {
				const id = `${role.id} ${instance_id}`;
				return { assigned: { ...assigned, id, role_id: role.id, instance_id, expires_at: null }, source: 'computed' };
			});
	});
}

/** A held role: the assignment or computed role it comes from, and its last derivation step. */
interface Holding {
	readonly assigned: HeldRole;
	readonly source: EffectiveRole['source'];
	/** Absent for an assigned role. */
	readonly last?: LastStep;
}

/** The relationship and the derivation through which a role follows from the previous role. */
interface LastStep {
	readonly before: Holding;
	readonly tuple: TupleStep;
	readonly by: RoleStep;
}

interface Derived {
	readonly holdings: readonly Holding[];
	/** True if there may be more roles. */
	readonly more: boolean;
}

/**
 * Follows derivations from the starts, level by level. Lists a role with several sources once for each source. Only
 * assigned roles (`direct`) block derivations.
 */
async function deriveRoles(
	unit: ReadingUnit,
	direct: readonly Holding[],
	starts: readonly Holding[],
	most: number,
): Promise<Derived> {
	const steps = groupBy(await derivationSteps(unit), ({ source_id }) => source_id);
	const stopping = new Set(direct.flatMap(({ assigned }) => assigned.instance_id ?? []));
	const memberships = await groupMemberships(unit, direct);
	const sourceAfter = ({ assigned }: Holding) => (memberships.has(assigned.id) ? 'group' : 'derived');
	const origins = new Origins();
	for (const holding of starts) origins.add(sourceAfter(holding), holding);
	const listed = new Map<string, Holding>();
	let more = false;
	let frontier: readonly Holding[] = starts.filter(({ assigned }) => assigned.instance_id !== null);
	for (let level = 0; frontier.length > 0; level += 1) {
		if (level === maxRoleSteps) return { holdings: [...listed.values()], more: true };
		const { tuples, cut } = await tuplesAfter(unit, frontier, steps);
		more ||= cut;
		const reached: Holding[] = [];
		for (const before of frontier) {
			const source = sourceAfter(before);
			for (const last of stepsAfter(before, steps, tuples)) {
				if (last.by.stops && stopping.has(last.tuple.object_id)) continue;
				const holding: Holding = { assigned: before.assigned, source, last };
				if (!origins.add(source, holding)) continue;
				reached.push(holding);
				const name = `${source} ${stateName(holding)}`;
				if (listed.has(name)) continue;
				if (listed.size >= most) return { holdings: [...listed.values()], more: true };
				listed.set(name, holding);
			}
		}
		frontier = reached;
	}
	return { holdings: [...listed.values()], more };
}

/**
 * Origins for each derived role. An origin is an assigned role, and there are at most two for each source kind. A
 * single origin would not be enough: a search that returns to its own assigned role around a cycle could hide that this
 * role also derives from a different assignment.
 */
class Origins {
	readonly #found = new Map<string, Set<string>>();

	/** Adds an origin for a role. Returns false if the origin is known or the role already has two. */
	add(source: Holding['source'], holding: Holding): boolean {
		const name = `${source} ${stateName(holding)}`;
		const origins = this.#found.get(name) ?? new Set();
		this.#found.set(name, origins);
		if (origins.size === 2) return false;
		return origins.size !== origins.add(holding.assigned.id).size;
	}
}

/** Steps, keyed by source role. */
type Steps = ReadonlyMap<string, readonly RoleStep[]>;

/** Relationships, keyed by subject. */
type TuplesOfSubjects = ReadonlyMap<string, readonly TupleStep[]>;

/** Returns the relationships through which roles may derive from these holdings, oldest first. */
async function tuplesAfter(
	unit: ReadingUnit,
	holdings: readonly Holding[],
	steps: Steps,
): Promise<{ readonly tuples: TuplesOfSubjects; readonly cut: boolean }> {
	const wanted = new Map<string, InstanceRelation>();
	for (const holding of holdings) {
		const { role_id, instance_id } = heldState(holding);
		for (const { relation_id } of steps.get(role_id) ?? [])
			wanted.set(`${instance_id} ${relation_id}`, { instance_id, relation_id });
	}
	// As for assigned roles, the row limit does not depend on the requested limit.
	const { tuples, cut } = await tuplesAt(unit, 'subject', [...wanted.values()], { most: maxEffectiveRoles + 1 });
	const ordered = tuples.toSorted((left, right) => (left.id < right.id ? -1 : 1));
	return { tuples: groupBy(ordered, ({ subject_id }) => subject_id), cut: cut.size > 0 };
}

function* stepsAfter(before: Holding, steps: Steps, tuples: TuplesOfSubjects): Generator<LastStep> {
	const { role_id, instance_id } = heldState(before);
	for (const by of steps.get(role_id) ?? []) {
		for (const tuple of tuples.get(instance_id) ?? [])
			if (tuple.relation_id === by.relation_id) yield { before, tuple, by };
	}
}

/** Returns the ids of the assignments that make the user a group member. */
async function groupMemberships(unit: ReadingUnit, direct: readonly Holding[]): Promise<ReadonlySet<string>> {
	const assigned = direct.map((holding) => holding.assigned);
	const keys = await roleAndRelationKeys(unit, [...new Set(assigned.map(({ role_id }) => role_id))]);
	const members = assigned.filter(({ role_id }) => keys.get(role_id) === memberKey);
	const groups = await groupsAmong(unit, [...new Set(members.flatMap(({ instance_id }) => instance_id ?? []))]);
	const ids = new Set(groups.map(({ id }) => id));
	return new Set(members.filter(({ instance_id }) => ids.has(instance_id ?? '')).map(({ id }) => id));
}

/** Returns the ids of a holding's role and instance. The instance id is empty for a tenant role. */
function heldState({ assigned, last }: Holding): { readonly role_id: string; readonly instance_id: string } {
	return last === undefined
		? { role_id: assigned.role_id, instance_id: assigned.instance_id ?? '' }
		: { role_id: last.by.target_id, instance_id: last.tuple.object_id };
}

function stateName(holding: Holding): string {
	const { role_id, instance_id } = heldState(holding);
	return `${role_id} ${instance_id}`;
}

/** Returns the chain from the assigned role to this holding. */
function holdingsUpTo(holding: Holding): readonly Holding[] {
	const chain: Holding[] = [];
	for (let at: Holding | undefined = holding; at !== undefined; at = at.last?.before) chain.unshift(at);
	return chain;
}

async function writeRoles(unit: ReadingUnit, holdings: readonly Holding[]): Promise<readonly EffectiveRole[]> {
	const states = holdings.flatMap(holdingsUpTo).map(heldState);
	const instanceIds = [...new Set(states.map(({ instance_id }) => instance_id).filter((id) => id !== ''))];
	const tenantIds = [...new Set(holdings.map(({ assigned }) => assigned.tenant_id))];
	const names = await factNames(unit, [
		...instanceIds.map((id) => ({ kind: 'instance' as const, id })),
		...tenantIds.map((id) => ({ kind: 'tenant' as const, id })),
	]);
	const relations = holdings.flatMap(holdingsUpTo).flatMap(({ last }) => last?.tuple.relation_id ?? []);
	const keys = await roleAndRelationKeys(unit, [...new Set([...states.map(({ role_id }) => role_id), ...relations])]);
	const place = (id: string) => {
		const { type = '', key = '' } = names.instances.get(id) ?? {};
		return instanceName(type, key);
	};
	return holdings.map((holding): EffectiveRole => {
		const chain = holdingsUpTo(holding);
		const { role_id, instance_id } = heldState(holding);
		const ends = [holding.assigned, ...chain.flatMap(({ last }) => last?.tuple ?? [])].flatMap(
			({ expires_at }) => expires_at ?? [],
		);
		const [until] = ends.sort((left, right) => left.getTime() - right.getTime());
		return {
			role: keys.get(role_id) ?? '',
			tenant: names.tenants.get(holding.assigned.tenant_id)?.key ?? '',
			resource_instance: instance_id === '' ? null : place(instance_id),
			source: holding.source,
			through: chain.flatMap(({ last }) => {
				if (last === undefined) return [];
				const { role_id: role, instance_id: instance } = heldState(last.before);
				const relation = keys.get(last.tuple.relation_id) ?? '';
				return [{ role: keys.get(role) ?? '', resource_instance: place(instance), relation }];
			}),
			...(until === undefined ? {} : { expires_at: until }),
		};
	});
}
