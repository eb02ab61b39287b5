import type { FactEdge, FactNode } from '../../store/model/fact-edges.js';
import { type FactNames, factNames, roleAndRelationKeys } from '../../store/model/fact-names.js';
import { memberKey } from '../../store/table/group/group-role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { GraphEdge, GraphNode } from '../../wire/facts/graph.js';
import { nodeText } from '../../wire/facts/graph-node.js';

/** Converts fact nodes and edges, which contain ids, to API objects with keys. */
export class FactLabels {
	private constructor(
		readonly names: FactNames,
		/** Role and relation keys. The map is keyed by id. */
		readonly keys: ReadonlyMap<string, string>,
		readonly tenants: ReadonlyMap<string, string>,
	) {}

	/** Reads the labels for these nodes, edges and additional roles. The nodes must include both ends of every edge. */
	static async read(
		unit: ReadingUnit,
		nodes: readonly FactNode[],
		edges: readonly FactEdge[],
		roleIds: readonly string[] = [],
	): Promise<FactLabels> {
		const named = edges.flatMap(({ tenant_id }) => tenant_id ?? []);
		const tenants = [...new Set(named)].map((id): FactNode => ({ kind: 'tenant', id }));
		const names = await factNames(unit, [...nodes, ...tenants]);
		const keys = await roleAndRelationKeys(unit, [...new Set([...edges.map(({ by }) => by.id), ...roleIds])]);
		return new FactLabels(names, keys, new Map([...names.tenants].map(([id, { key }]) => [id, key])));
	}

	/** Converts a node to its API object. `more` is the number of hidden neighbors. */
	node(node: FactNode, depth: number, more = 0): GraphNode {
		const place = { id: this.id(node), depth, ...(more > 0 ? { more } : {}) };
		const { users, tenants, instances } = this.names;
		if (node.kind === 'instance') {
			const { key = '', type = '', tenant = '', is_group = false } = instances.get(node.id) ?? {};
			return { ...place, kind: is_group ? 'group' : 'instance', key, type, tenant };
		}
		const { key = '', name = null } = (node.kind === 'user' ? users : tenants).get(node.id) ?? {};
		return { ...place, kind: node.kind, key, ...(name === null ? {} : { name }) };
	}

	/** Returns a node's id in API objects. */
	id({ kind, id }: FactNode): string {
		const { users, tenants, instances } = this.names;
		if (kind !== 'instance') return nodeText({ kind, key: (kind === 'user' ? users : tenants).get(id)?.key ?? '' });
		const { type = '', key = '' } = instances.get(id) ?? {};
		return nodeText({ kind, type, key });
	}

	/** Converts an edge to its API object. */
	edge({ from, to, by, tenant_id, expires_at, condition }: FactEdge): GraphEdge {
		const key = this.keys.get(by.id) ?? '';
		const ends = { from: this.id(from), to: this.id(to) };
		const until = { ...(expires_at !== null && { expires_at }), ...(condition !== undefined && { condition }) };
		if (by.kind === 'relation') return { ...ends, kind: 'relationship', relation: key, ...until };
		const inGroup = key === memberKey && this.names.instances.get(to.id)?.is_group === true;
		const tenant = this.tenants.get(tenant_id ?? '') ?? '';
		return { ...ends, kind: inGroup ? 'group_membership' : 'role_assignment', role: key, tenant, ...until };
	}
}
