import { Failure, notFound } from '../../failure.js';
import { ElementRequest, plainRequests } from '../../store/table/element/element-request.js';
import { ElementsConfig } from '../../store/table/element/elements-config.js';
import { type AssignmentRow, assignmentsBy } from '../../store/table/role-assignment.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { asId } from '../../wire/common.js';
import { endsBefore } from '../ends-before.js';
import { removeAssignments } from '../facts/assignment.js';
import { grantRequest, requireRequester } from './request.js';
import { changeRequest } from './request-record.js';
import { approvedRole, singleUseSetting } from './setting.js';

/**
 * Consumes an operation approval. Removes its role in the same unit, so an approval is used at most once. Throws
 * `not_found`. Throws `conflict` if the request is not approved, if the approval was used, has expired or was revoked,
 * and if the element allows repeated use.
 */
export async function consumeApproval(unit: WritingUnit, reference: string): Promise<ElementRequest> {
	const id = asId(reference);
	const [request] = id === null ? [] : await plainRequests(unit, { ids: [id] });
	if (request?.type !== 'operation_approval') throw notFound(ElementRequest.title, reference);
	await requireSingleUse(unit, request);
	requireUnused(unit, request);
	await requireRequester(unit, request);
	if (request.resource_instance_id !== null) await takeBack(unit, request, request.resource_instance_id);
	return changeRequest(unit, request, { consumed_at: unit.now });
}

async function requireSingleUse(unit: WritingUnit, { config_id }: ElementRequest): Promise<void> {
	const config = config_id === null ? undefined : (await unit.findMany(ElementsConfig, [config_id])).get(config_id);
	if (config === undefined) throw new Failure('conflict', "the approval's element was deleted");
	if (config.settings[singleUseSetting] === true) return;
	throw new Failure('conflict', `the element \`${config.key}\` does not have the setting \`${singleUseSetting}\``);
}

function requireUnused({ now }: WritingUnit, { status, consumed_at, expires_at }: ElementRequest): void {
	if (consumed_at !== null) {
		throw new Failure('conflict', `the approval was already consumed at ${consumed_at.toISOString()}`);
	}
	if (status !== 'approved') throw new Failure('conflict', `the request is ${status}, not approved`);
	if (expires_at === null || expires_at > now) return;
	throw new Failure('conflict', `the approval ended at ${expires_at.toISOString()}`);
}

/**
 * Removes the role assigned by a request. Keeps the role if it has a different source or an extended expiry. Throws
 * `conflict` if the user no longer holds the role, because the approval was then revoked and must not be used.
 */
async function takeBack(unit: WritingUnit, request: ElementRequest, instanceId: string): Promise<void> {
	const held = await assignmentsBy(unit, {
		user_ids: [request.requesting_user_id],
		tenant_ids: [request.tenant_id],
		resource_instance_ids: [instanceId],
	}).all();
	const given = held.find(({ role, condition_set }) => role === approvedRole && condition_set === null);
	if (given === undefined) throw new Failure('conflict', 'the user no longer holds the approved role');
	if (given.element_request_id !== request.id || endsBefore(request, given)) return;
	await removeAssignments(unit, { ids: [given.id] });
	await restoreOthers(unit, request, given);
}

/**
 * Assigns the role again for unused approvals granted while the removed assignment existed, because they relied on it.
 * An older approval may have been revoked before the removed assignment was created.
 */
async function restoreOthers(unit: WritingUnit, request: ElementRequest, gone: AssignmentRow): Promise<void> {
	const others = await plainRequests(unit, {
		requesting_user_ids: [request.requesting_user_id],
		tenant_ids: [request.tenant_id],
		resource_instance_ids: [gone.resource_instance_id ?? ''],
		status: 'approved',
	});
	for (const other of others) {
		const { id, type, consumed_at, expires_at, reviewed_at } = other;
		if (id === request.id || type !== 'operation_approval' || consumed_at !== null) continue;
		if (expires_at !== null && expires_at <= unit.now) continue;
		if (reviewed_at !== null && reviewed_at >= gone.created_at) await grantRequest(unit, other);
	}
}
