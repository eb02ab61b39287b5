import type { EngineInput } from '../engine/engine.js';
import { type CompiledSet, compiledSetsIn, NeedsEngine } from '../facts/compiled-sets.js';
import { conditionSetsIn } from '../facts/condition-sets.js';
import { ConditionSubject, type SentAttributes } from '../facts/condition-subject.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { instanceName } from '../facts/instance-name.js';

/** True if condition sets allow a check for a user. */
export type UserTest = (user: string, sent: SentAttributes) => boolean;

/**
 * Returns the test for the users of a check. Resource sets that are the same for all users are evaluated once. Throws
 * `NeedsEngine` if only the engine can evaluate a condition.
 */
export function userTest(
	facts: FactsIndex,
	{ action, resource, context }: Pick<EngineInput, 'action' | 'resource' | 'context'>,
	time: number,
): UserTest {
	const { type, key } = resource;
	const tenant = facts.names.number(resource.tenant);
	const instance = key === undefined ? undefined : facts.names.number(instanceName({ type, key }));
	const home = instance === undefined ? undefined : facts.instanceTenants.at(instance);
	// Condition sets allow nothing in a missing tenant, or on an instance of a different tenant.
	if (context?.['pdp_type'] === 'cloud' || tenant === undefined || facts.tenants.at(tenant) === undefined) return never;
	if (home !== undefined && home !== tenant) return never;
	if (conditionSetsIn(facts.schema).rolesNamed(type, action).size > 0) {
		throw new NeedsEngine('a user set names roles on the resource');
	}
	const subject = new ConditionSubject(facts, time, { context, resource: resource.attributes });
	subject.setResource({ type, tenant, key }, home === undefined ? undefined : instance);
	const open: (readonly [users: CompiledSet, resources: readonly CompiledSet[]])[] = [];
	for (const { users, resources } of compiledSetsIn(facts.schema).rules(type, action)) {
		if (resources.some((set) => !set.readsUser && set.selects(subject))) open.push([users, []]);
		else {
			const others = resources.filter((set) => set.readsUser);
			if (others.length > 0) open.push([users, others]);
		}
	}
	return (user, sent) => {
		subject.setUser(user, sent);
		return open.some(
			([users, resources]) =>
				users.selects(subject) && (resources.length === 0 || resources.some((set) => set.selects(subject))),
		);
	};
}

const never: UserTest = () => false;
