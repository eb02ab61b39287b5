import {
	dependsOnCheck,
	derivationGraph,
	roleLinks,
	roleName,
	stronglyConnectedComponents,
} from '../../../compiler/cycle.js';
import { findWalks } from '../../../compiler/data/walk.js';
import { groupBy } from '../../../compiler/group-by.js';
import type { ComputedRoleIds, DerivationStep } from '../../store/model/graph-walk.js';
import { schemaOfIds } from './check-steps.js';

/** A role outside cycles, or all roles in a cycle. */
interface Component {
	readonly members: readonly Member[];
	/** Roles called by each member. A role that is called several times occurs several times. */
	readonly sources: readonly string[];
}

interface Member {
	readonly role: string;
	/** Roles called by this member in addition to `sources`. */
	readonly further: readonly string[];
	/** True for a cycle with closures: a check looks up the member on the instances, and again in their closures. */
	readonly isRepeated: boolean;
	/** True if a walk replaces the calls. It visits each role once. */
	readonly isWalked: boolean;
}

/**
 * Counts the calls of role functions in a check, which looks up every role on the instance. A role calls its sources
 * once for each derivation, and its operands once for each occurrence in its expression.
 */
export class RoleCalls {
	/** Each component comes after its sources. */
	readonly #components: readonly Component[];
	readonly #resources: ReadonlyMap<string, string>;

	constructor(rules: readonly DerivationStep[], computed: readonly ComputedRoleIds[]) {
		this.#resources = new Map([...rules, ...computed].map(({ role_id, resource_id }) => [role_id, resource_id]));
		this.#components = componentsOf(rules, computed);
	}

	/**
	 * Returns the maximum number of times that a check on any instance calls a role. Checks on the resources `asked` look
	 * up every role twice, because user sets may name the role.
	 */
	mostTo(role: string, resource: string, asked: ReadonlySet<string>): number {
		const byResource = new Map<string, number>();
		for (const [caller, calls] of this.#callsTo(role)) {
			const on = caller === role ? resource : (this.#resources.get(caller) ?? '');
			byResource.set(on, (byResource.get(on) ?? 0) + calls * (asked.has(on) ? 2 : 1));
		}
		return Math.max(...byResource.values());
	}

	/** Returns the number of times that the lookup for each role calls the role `target`. */
	#callsTo(target: string): ReadonlyMap<string, number> {
		const calls = new Map([[target, 1]]);
		const sum = (roles: readonly string[]) => roles.reduce((total, role) => total + (calls.get(role) ?? 0), 0);
		for (const { members, sources } of this.#components) {
			const common = sum(sources) + (members.some(({ role }) => role === target) ? 1 : 0);
			for (const { role, further, isRepeated, isWalked } of members) {
				const made = common + sum(further) + (isRepeated && role === target ? 1 : 0);
				if (made > 0) calls.set(role, isWalked ? 1 : made);
			}
		}
		return calls;
	}
}

function componentsOf(rules: readonly DerivationStep[], computed: readonly ComputedRoleIds[]): readonly Component[] {
	const schema = schemaOfIds(rules, computed);
	const graph = derivationGraph(schema);
	const walks = findWalks(graph, schema);
	const operands = new Map(computed.map(({ role_id, operand_ids }) => [role_id, operand_ids]));
	const names = new Map(
		schema.resources.flatMap(({ key: type, roles }) =>
			roles.map(({ key: role }) => [roleName({ type, role }), { type, role }] as const),
		),
	);
	// The search finds every role after its sources.
	const order = [...stronglyConnectedComponents(roleLinks(schema))].flatMap(([name, component]) => {
		const found = names.get(name);
		return found === undefined ? [] : [{ name: found, component }];
	});
	return [...groupBy(order, ({ component }) => component).values()].map((inside): Component => {
		const leaving = inside.flatMap(({ name }) => graph.leaving(name));
		return {
			sources: [
				...leaving.map(({ source }) => source.role),
				...inside.flatMap(({ name }) => operands.get(name.role) ?? []),
			],
			members: inside.map(({ name }) => {
				const isRepeated = graph.cycleContaining(name)?.conditional === false;
				const interrupted = graph.leaving(name).filter(dependsOnCheck);
				return {
					role: name.role,
					further: isRepeated ? interrupted.map(({ source }) => source.role) : [],
					isRepeated,
					isWalked: walks.walkTo(name) !== undefined,
				};
			}),
		};
	});
}
