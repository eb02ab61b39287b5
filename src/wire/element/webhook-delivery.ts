import { z } from 'zod';
import { environmentScoped, StoredObject, Timestamp, Uuid } from '../common.js';
import { paginated } from '../list.js';
import { pageShape } from '../query.js';

/** What became of a delivery: `pending` ones are sent, or sent again; `failed` ones were given up. */
const DeliveryStatus = z.enum(['pending', 'delivered', 'failed']);

/** One event for the webhook of an element, and what became of it. */
export const WebhookDeliveryRead = z
	.object({
		...environmentScoped,
		config_id: Uuid.describe('The id of the element.'),
		event: z.string().describe('What happened, such as `role_assignment`.'),
		payload: StoredObject.describe('The body that is sent.'),
		status: DeliveryStatus.describe('What became of the delivery.'),
		attempts: z.int().min(0).describe('How often it was tried.'),
		attempted_at: Timestamp.nullable().describe('When it was last tried, in UTC.'),
		next_attempt_at: Timestamp.nullable().describe('When it is tried next, in UTC; null when it is not.'),
		response_status: z.int().nullable().describe('The status of the last answer; null without one.'),
		error: z.string().nullable().describe('Why the last attempt failed; null if it did not.'),
	})
	.meta({ id: 'WebhookDeliveryRead', description: 'One event for the webhook of an element, and what became of it.' });
export type WebhookDeliveryRead = z.input<typeof WebhookDeliveryRead>;

/** A page of deliveries. */
export const WebhookDeliveryPage = paginated(WebhookDeliveryRead);

/** Which deliveries are listed. */
export const WebhookDeliveryQuery = z.object({
	status: DeliveryStatus.optional().describe('Only deliveries in this state.'),
	...pageShape,
});

/** The secret that signs what a webhook is sent. */
export const WebhookSecretRead = z
	.object({
		secret: z.string().describe('The secret of the signatures, as Standard Webhooks write it: `whsec_` and Base64.'),
	})
	.meta({ id: 'WebhookSecretRead', description: 'The secret that signs what a webhook is sent.' });
export type WebhookSecretRead = z.input<typeof WebhookSecretRead>;
