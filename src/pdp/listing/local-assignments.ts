/** Lists users' role assignments, in tenants and on instances, from the local index. */

import { Pauses, type Steps } from '../../../compiler/steps.js';
import type { LocalAssignment, LocalAssignmentsQuery } from '../../wire/decision/check.js';
import type { DecisionContext } from '../decide/decide.js';
import { sortedBy, sortedTexts } from '../engine/chunks.js';
import type { FactsIndex } from '../facts/facts-index.js';
import { instanceType } from '../facts/instance-name.js';

/**
 * Returns a page of role assignments matching the filters, sorted by user, tenant, instance (tenant roles first), role
 * and condition.
 */
export function* localAssignments(
	{ facts, time }: Pick<DecisionContext, 'facts' | 'time'>,
	query: LocalAssignmentsQuery,
): Steps<LocalAssignment[]> {
	const found: LocalAssignment[] = [];
	let before = (query.page - 1) * query.per_page;
	const pauses = new Pauses();
	for (const user of query.user === undefined ? yield* everyUser(facts) : [query.user]) {
		const rows: LocalAssignment[] = [];
		for (const row of userAssignments(facts, user, time)) {
			if (pauses.step()) yield;
			if (isWanted(row, query)) rows.push(row);
		}
		if (before < rows.length) {
			const inOrder = yield* sortedBy(rows, sortText);
			found.push(...inOrder.slice(before, before + query.per_page - found.length));
		}
		before = Math.max(0, before - rows.length);
		if (found.length === query.per_page) break;
	}
	return found;
}

/** Returns all users with assignments, sorted, by merging sorted lists without duplicates. */
function* everyUser({ tenantRoles, instanceRoles, conditionalRoles }: FactsIndex): Steps<Iterable<string>> {
	const one = yield* tenantRoles.sortedLeftNames();
	const other = yield* instanceRoles.sortedLeftNames();
	if (conditionalRoles.isEmpty) return merged(one, other);
	return merged(merged(one, other), yield* sortedTexts([...conditionalRoles.leftNames]));
}

function* merged(one: Iterable<string>, other: Iterable<string>): Iterable<string> {
	const [ofOne, ofOther] = [one[Symbol.iterator](), other[Symbol.iterator]()];
	let [left, right] = [ofOne.next(), ofOther.next()];
	while (!left.done || !right.done) {
		const first: string = right.done || (!left.done && left.value <= right.value) ? left.value : right.value;
		if (first === left.value) left = ofOne.next();
		if (first === right.value) right = ofOther.next();
		yield first;
	}
}

function* userAssignments(facts: FactsIndex, user: string, time: number): Iterable<LocalAssignment> {
	for (const [tenant, role] of facts.tenantRoles.from(user, time)) yield { user, role, tenant };
	for (const [instance, role] of facts.instanceRoles.from(user, time)) {
		const tenant = facts.tenantKey(instance);
		if (tenant !== undefined) yield { user, role, tenant, resource_instance: instance };
	}
	for (const { instance, role, set, values } of facts.conditionalRoles.from(user, time)) {
		const tenant = facts.tenantKey(instance);
		if (tenant !== undefined) yield { user, role, tenant, resource_instance: instance, condition: { set, values } };
	}
}

/** For filters, a tenant is an object with type `__tenant`, as in the permissions listing. */
function isWanted({ role, tenant, resource_instance }: LocalAssignment, query: LocalAssignmentsQuery): boolean {
	const object = resource_instance ?? `__tenant:${tenant}`;
	const type = instanceType(object);
	return (
		matches(query.role, role) &&
		matches(query.tenant, tenant) &&
		matches(query.resource, type) &&
		matches(query.resource_instance, object, object.slice(type.length + 1))
	);
}

function matches(wanted: string | undefined, ...names: readonly string[]): boolean {
	return wanted === undefined || names.includes(wanted);
}

function sortText({ tenant, resource_instance, role, condition }: LocalAssignment): string {
	return JSON.stringify([tenant, resource_instance ?? '', role, condition?.set ?? '']);
}
