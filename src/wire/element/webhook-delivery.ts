import { z } from 'zod';
import { environmentScoped, StoredObject, Timestamp, Uuid } from '../common.js';
import { paginated } from '../list.js';
import { named } from '../named.js';
import { pageShape } from '../query.js';

/** Delivery state. `pending` deliveries will be sent, perhaps again. `failed` deliveries are abandoned. */
const DeliveryStatus = z.enum(['pending', 'delivered', 'failed']);

export const WebhookDeliveryRead = named(
	'WebhookDeliveryRead',
	'An event for an element webhook, with its delivery state.',
	{
		...environmentScoped,
		config_id: Uuid.describe('Element id.'),
		event: z.string().describe('Event type, such as `role_assignment`.'),
		payload: StoredObject.describe('Request body.'),
		status: DeliveryStatus.describe('Delivery state.'),
		attempts: z.int().min(0).describe('Number of attempts.'),
		attempted_at: Timestamp.nullable().describe('Last attempt, in UTC.'),
		next_attempt_at: Timestamp.nullable().describe('Next attempt, in UTC; null if there is none.'),
		response_status: z.int().nullable().describe('Last response status; null if there was no response.'),
		error: z.string().nullable().describe('Why the last attempt failed; null if it succeeded.'),
	},
);
export type WebhookDeliveryRead = z.input<typeof WebhookDeliveryRead>;

export const WebhookDeliveryPage = paginated(WebhookDeliveryRead);

/** Filters for deliveries. */
export const WebhookDeliveryQuery = z.object({
	status: DeliveryStatus.optional().describe('Only deliveries in this state.'),
	...pageShape,
});

export const WebhookSecretRead = named('WebhookSecretRead', 'Secret that signs webhook requests.', {
	secret: z.string().describe('Signing secret in Standard Webhooks format: `whsec_` and Base64.'),
});
export type WebhookSecretRead = z.input<typeof WebhookSecretRead>;
