import type { ReadingUnit } from '../unit/reading-unit.js';
import { type RowQuery, rowQuery } from '../unit/row-query.js';
import type { WritingUnit } from '../unit/writing-unit.js';
import { EnvironmentModel } from './environment-model.js';

/** What became of a delivery: it waits for an attempt, a receiver has it, or it was given up. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** One event for the webhook of an element. Deliveries are in no revision: the events themselves are. */
export class WebhookDelivery extends EnvironmentModel {
	static override readonly tableName = 'webhook_deliveries';
	static override readonly jsonAttributes = ['payload'];
	static readonly kind = 'elements_config';
	static readonly title = 'WebhookDelivery';

	declare config_id: string;
	declare event: string;
	/** The body that is sent. */
	declare payload: Readonly<Record<string, unknown>>;
	declare status: DeliveryStatus;
	/** How many attempts were begun. */
	declare attempts: number;
	/** When a pending delivery is due. */
	declare next_attempt_at: Date;
	/** Until when a process is sending it; `null` when none is. */
	declare lease_until: Date | null;
	declare attempted_at: Date | null;
	/** The status of the last answer; `null` without one. */
	declare response_status: number | null;
	/** Why the last attempt failed. */
	declare error: string | null;
}

/** How many deliveries of an element are kept once they are not pending any more: the newest. */
export const keptDeliveries = 1_000;

/** Deletes the deliveries of an element that have ended, but for the newest `:kept`. */
export const pruningDeliveries = `delete from webhook_deliveries
	where environment_id = :environment_id and config_id = :config_id and status <> 'pending' and id <= (
		select id from webhook_deliveries
		where environment_id = :environment_id and config_id = :config_id and status <> 'pending'
		order by id desc offset :kept limit 1
	)`;

/** The most deliveries of an element that wait. Those beyond it are given up at once. */
const maxWaiting = 10_000;

/**
 * Adds a delivery, which is sent once the unit is committed: the processes of the API look into the outbox. Records
 * nothing.
 */
export async function insertDelivery(
	unit: WritingUnit,
	event: Pick<WebhookDelivery, 'config_id' | 'event' | 'payload'>,
): Promise<void> {
	const waiting = await unit
		.query(WebhookDelivery)
		.where('webhook_deliveries.config_id', event.config_id)
		.where('webhook_deliveries.status', 'pending')
		.orderBy('webhook_deliveries.id')
		.offset(maxWaiting - 1)
		.select('webhook_deliveries.id')
		.first();
	const full = waiting !== undefined;
	const row = {
		...event,
		id: unit.clock.newId(),
		created_at: unit.now,
		attempts: 0,
		status: full ? ('failed' as const) : ('pending' as const),
		error: full ? 'too many deliveries of this element were waiting' : null,
	};
	await unit.insert(WebhookDelivery, [row], ({ id }) => String(id));
	// Nothing of this element may end for hours, which would prune them.
	if (full) await unit.raw(pruningDeliveries, { config_id: event.config_id, kept: keptDeliveries });
	unit.noteOutbox();
}

/** The deliveries of an element that are kept, of this status where one is given, newest first. */
export function deliveriesOf(
	unit: ReadingUnit,
	configId: string,
	status: DeliveryStatus | undefined,
): RowQuery<WebhookDelivery> {
	const query = unit
		.query(WebhookDelivery)
		.where('webhook_deliveries.config_id', configId)
		.orderBy('webhook_deliveries.id', 'desc');
	if (status !== undefined) query.where('webhook_deliveries.status', status);
	return rowQuery(query);
}
