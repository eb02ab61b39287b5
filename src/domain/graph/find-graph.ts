import { notFound } from '../../failure.js';
import type { FactNode } from '../../store/model/fact-edges.js';
import { readSchema } from '../../store/model/model.js';
import { type InstanceRow, instanceWithKeys } from '../../store/table/resource-instance.js';
import { Tenant, tenantWithKey } from '../../store/table/tenant.js';
import { User, userWithKey } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { instanceName } from '../../wire/common.js';
import type { Graph, GraphQuery } from '../../wire/facts/graph.js';
import type { InstanceNodeName, NodeName } from '../../wire/facts/graph-node.js';
import { refuseUnknownInstance } from '../facts/named-instance.js';
import { factsAround } from './facts-around.js';
import { type PathEnds, pathsBetween } from './paths-between.js';
import { schemaAround } from './schema-around.js';

/**
 * Returns the requested graph. The unit reads all data at a single instant. Throws `not_found` for a missing object.
 */
export async function findGraph(unit: ReadingUnit, query: GraphQuery): Promise<Omit<Graph, 'revision'>> {
	const { from, to, mode, depth, limit, expand } = query;
	switch (mode) {
		case 'schema':
			return { ...schemaAround(await readSchema(unit), from, { depth, limit, expand }), paths: [] };
		case 'facts': {
			const start = await findFact(unit, from);
			const expanded: FactNode[] = [];
			for (const name of expand) expanded.push(await findFact(unit, name));
			return { ...(await factsAround(unit, start, { depth, limit, expand: expanded })), paths: [] };
		}
		case 'path':
			return pathsBetween(unit, await findEnds(unit, from, to), limit);
	}
}

async function findEnds(unit: ReadingUnit, from: NodeName, to: NodeName | undefined): Promise<PathEnds> {
	if (to?.kind !== 'instance') throw new Error('a path query without a target instance passed validation');
	const start =
		from.kind === 'instance'
			? { kind: from.kind, row: await findNamedInstance(unit, from) }
			: { kind: 'user' as const, id: (await findUser(unit, from.key)).id };
	return { from: start, to: await findNamedInstance(unit, to), role: to.role };
}

async function findFact(unit: ReadingUnit, name: NodeName): Promise<FactNode> {
	switch (name.kind) {
		case 'user':
			return { kind: name.kind, id: (await findUser(unit, name.key)).id };
		case 'tenant': {
			const tenant = await tenantWithKey(unit, name.key);
			if (tenant === null) throw notFound(Tenant.title, name.key);
			return { kind: name.kind, id: tenant.id };
		}
		case 'instance':
			return { kind: name.kind, id: (await findNamedInstance(unit, name)).id };
		default:
			throw new Error(`a facts query from a ${name.kind} passed validation`);
	}
}

async function findUser(unit: ReadingUnit, key: string): Promise<User> {
	const user = await userWithKey(unit, key);
	if (user === null) throw notFound(User.title, key);
	return user;
}

async function findNamedInstance(unit: ReadingUnit, { type, key }: InstanceNodeName): Promise<InstanceRow> {
	return (await instanceWithKeys(unit, type, key)) ?? refuseUnknownInstance(instanceName(type, key));
}
