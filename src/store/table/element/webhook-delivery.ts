import { type RowQuery, rowQuery } from '../../query/row-query.js';
import type { ReadingUnit } from '../../unit/reading-unit.js';
import type { WritingUnit } from '../../unit/writing-unit.js';
import { EnvironmentModel } from '../environment-model.js';

/**
 * Delivery state. `pending`: waits for an attempt; `delivered`: accepted by the receiver; `failed`: not attempted
 * again.
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** An event for an element's webhook. Deliveries have no revision, but the events they report do. */
export class WebhookDelivery extends EnvironmentModel {
	static override readonly tableName = 'webhook_deliveries';
	static override readonly jsonAttributes = ['payload'];
	static readonly kind = 'elements_config';
	static readonly title = 'WebhookDelivery';

	declare config_id: string;
	declare event: string;
	/** Request body. */
	declare payload: Readonly<Record<string, unknown>>;
	declare status: DeliveryStatus;
	/** Number of started attempts. */
	declare attempts: number;
	/** Time at which a pending delivery is due. */
	declare next_attempt_at: Date;
	/** When the sending process's lease ends; `null` if no process is sending. */
	declare lease_until: Date | null;
	declare attempted_at: Date | null;
	/** The last response's HTTP status; `null` if there was no response. */
	declare response_status: number | null;
	/** Reason for the last failure; `null` if the last attempt did not fail. */
	declare error: string | null;
}

/** Number of completed deliveries kept per element; older deliveries are deleted. */
export const keptDeliveries = 1_000;

/** SQL that deletes an element's completed deliveries, except the newest `:kept`. */
export const pruningDeliveries = `delete from webhook_deliveries
	where environment_id = :environment_id and config_id = :config_id and status <> 'pending' and id <= (
		select id from webhook_deliveries
		where environment_id = :environment_id and config_id = :config_id and status <> 'pending'
		order by id desc offset :kept limit 1
	)`;

/** Maximum number of pending deliveries per element. Further deliveries fail immediately. */
const maxWaiting = 10_000;

/**
 * Adds a delivery. The API processes poll the outbox and send the delivery after the commit. Does not write to the
 * change log.
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
		error: full ? 'too many pending deliveries for this element' : null,
	};
	await unit.insert(WebhookDelivery, [row], ({ id }) => String(id));
	// Prune here, because deliveries are otherwise pruned only when one completes, and this element's deliveries may not
	// complete for hours.
	if (full) await unit.raw(pruningDeliveries, { config_id: event.config_id, kept: keptDeliveries });
	unit.noteOutbox();
}

/**
 * Returns an element's stored deliveries, newest first. If `status` is passed, returns only deliveries with this
 * status.
 */
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
