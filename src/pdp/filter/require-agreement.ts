import type { PatternMatcher } from '../../../compiler/condition/operator.js';
import type { Steps } from '../../../compiler/steps.js';
import { Failure } from '../../failure.js';
import { compileResidual } from '../../filter/evaluate-residual.js';
import type { Residual, Row } from '../../filter/residual.js';
import type { DecisionContext } from '../decide/decide.js';
import type { FilterInput } from '../decide/normalise.js';
import { evaluationFailed } from '../engine/engine.js';
import { parseInstanceName } from '../facts/instance-name.js';
import { randomItems, sampleSize } from '../listing/referee.js';
import type { GrantedRows } from './granted-rows.js';

interface CalculatedFilter {
	readonly input: FilterInput;
	readonly condition: Residual;
	readonly granted: GrantedRows;
	readonly matches: PatternMatcher;
}

/** Key of a row that is not stored. */
const newKey = 'a new row';

/**
 * Compares the filter with the engine on a sample of rows: stored instances, listed keys, and new rows. Throws
 * `Failure` (`unavailable`) after a difference, because only the engine is authoritative.
 */
export function* requireAgreement(
	context: DecisionContext,
	{ input, condition, granted: { keys, tenants, held }, matches }: CalculatedFilter,
): Steps<void> {
	const { engine, facts, log, requestId: request_id, revision, time } = context;
	const { type, tenant: given, attributes: sent } = input.resource;
	const selects = yield* compileResidual(condition, matches);
	const quarter = sampleSize / 4;
	const listed = [...keys.values()].slice(0, quarter).flatMap((found) => randomItems(found, 1));
	const instances = [
		...facts.instanceTenants.random(sampleSize),
		...listed.map(({ instance }) => instance),
		...randomItems([...held.keys()], quarter),
	];
	const rows: Row[] = [];
	for (const instance of new Set(instances)) {
		const name = parseInstanceName(facts.names.text(instance));
		const tenant = facts.instanceTenants.at(instance);
		if (name.type !== type || tenant === undefined) continue;
		if (given !== undefined && facts.names.text(tenant) !== given) continue;
		const stored = facts.instanceAttributes.at(instance) ?? {};
		rows.push({
			key: name.key,
			tenant: facts.names.text(tenant),
			attributes: { ...(stored as object), ...(sent as object) },
		});
	}
	if (!facts.instanceTenants.has(`${type}:${newKey}`)) {
		for (const tenant of [...tenants.keys()].slice(0, quarter)) {
			rows.push({ key: newKey, tenant: facts.names.text(tenant), attributes: { ...(sent as object) } });
		}
	}
	for (const row of rows) {
		const code = engine.code({ ...input, resource: { ...input.resource, key: row.key, tenant: row.tenant }, time });
		yield;
		if (code === evaluationFailed || (code === 'allow') === selects(row)) continue;
		log.error({ request_id, revision }, 'a filter differs from the policy: the request is rejected');
		context.countDifference?.();
		throw new Failure('unavailable', 'the filter differs from the policy, which is a defect: use checks or listings');
	}
}
