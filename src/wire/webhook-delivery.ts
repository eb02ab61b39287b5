import { z } from 'zod';
import { environmentScoped, StoredObject, Timestamp, Uuid } from './common.js';
import { paginated } from './list.js';
import { pageShape } from './query.js';

/** What became of a delivery: `pending` ones are sent, or sent again; `failed` ones were given up. */
const DeliveryStatus = z.enum(['pending', 'delivered', 'failed']);

/** One event for the webhook of an element, and what became of it. */
export const WebhookDeliveryRead = z
	.object({
		...environmentScoped,
		config_id: Uuid,
		event: z.string(),
		payload: StoredObject,
		status: DeliveryStatus,
		attempts: z.int().min(0),
		attempted_at: Timestamp.nullable(),
		next_attempt_at: Timestamp.nullable(),
		response_status: z.int().nullable(),
		error: z.string().nullable(),
	})
	.meta({ id: 'WebhookDeliveryRead' });
export type WebhookDeliveryRead = z.input<typeof WebhookDeliveryRead>;

/** A page of deliveries. */
export const WebhookDeliveryPage = paginated(WebhookDeliveryRead);

/** Which deliveries are listed. */
export const WebhookDeliveryQuery = z.object({ status: DeliveryStatus.optional(), ...pageShape });

/** The secret that signs what a webhook is sent. */
export const WebhookSecretRead = z.object({ secret: z.string() }).meta({ id: 'WebhookSecretRead' });
export type WebhookSecretRead = z.input<typeof WebhookSecretRead>;
