import { onlyRow } from '../../store/query/only-row.js';
import {
	deleteRequests,
	type ElementRequest,
	insertRequest,
	patchRequest,
	plainRequests,
	type RequestFilter,
} from '../../store/table/element/element-request.js';
import type { ElementsConfig } from '../../store/table/element/elements-config.js';
import { changeRecord, hasValues } from '../../store/unit/change-record.js';
import type { Columns } from '../../store/unit/table-model.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { ActingUser } from './level.js';
import { transitions } from './request-state.js';

/** Writes requests and records their changes. `request.ts` checks permissions. */

/** Adds an actor's pending request. */
export async function createRequest(
	unit: WritingUnit,
	config: ElementsConfig,
	{ user_id, tenant_id }: ActingUser,
	columns: Columns<ElementRequest>,
): Promise<ElementRequest> {
	const row = onlyRow(
		await insertRequest(unit, {
			...columns,
			config_id: config.id,
			status: 'pending',
			requesting_user_id: user_id,
			tenant_id,
			reviewer_user_id: null,
			reviewed_at: null,
			reviewer_comment: null,
			consumed_at: null,
		}),
	);
	unit.record('element_request', 'create', row.id, null, changeRecord(row));
	return row;
}

/** Changes request columns. Does nothing if the columns already have these values. Returns the current request. */
export async function changeRequest(
	unit: WritingUnit,
	request: ElementRequest,
	columns: Columns<ElementRequest>,
): Promise<ElementRequest> {
	if (hasValues(request, columns)) return request;
	const after = await patchRequest(unit, request, columns);
	unit.record('element_request', 'update', request.id, changeRecord(request), changeRecord(after));
	return after;
}

/** Cancels an element's pending requests. Must run before the element is deleted. */
export async function cancelRequests(unit: WritingUnit, config: ElementsConfig): Promise<void> {
	for (const request of await plainRequests(unit, { config_ids: [config.id], status: 'pending' })) {
		await changeRequest(unit, request, { status: transitions.cancel.to });
	}
}

/** Deletes the matching requests. Must run before a referenced object is deleted. */
export async function removeRequests(unit: WritingUnit, filter: RequestFilter): Promise<void> {
	const rows = await plainRequests(unit, filter);
	if (rows.length === 0) return;
	const ids = rows.map(({ id }) => id);
	await deleteRequests(unit, ids);
	for (const row of rows) unit.record('element_request', 'delete', row.id, changeRecord(row), null);
}
