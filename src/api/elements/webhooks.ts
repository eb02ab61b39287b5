import { announceTest, readDelivery, readWebhookSecret } from '../../domain/element/webhook-event.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { ElementsConfig } from '../../store/table/element/elements-config.js';
import { deliveriesOf } from '../../store/table/element/webhook-delivery.js';
import { Reference } from '../../wire/common.js';
import { WebhookDeliveryPage, WebhookDeliveryQuery, WebhookSecretRead } from '../../wire/element/webhook-delivery.js';
import { EnvironmentPath, endpoint, refuseReader, requireAdmin } from '../access.js';
import { withItems } from '../list-answer.js';

const tag = 'Webhooks';
const member = '/v2/elements/:proj_id/:env_id/config/:elements_config_id';
const ElementsConfigPath = EnvironmentPath.extend({ elements_config_id: Reference });

/** Webhook deliveries for elements, and the keys to verify their signatures. */
export const webhooks = [
	endpoint({
		...methods({ tag, path: `${member}/webhook_deliveries`, params: ElementsConfigPath }).get,
		name: 'listWebhookDeliveries',
		summary: 'List the webhook deliveries of an element, newest first',
		description: 'Requires an API key with write access. The newest 1,000 completed deliveries are kept.',
		access: 'environment.read',
		query: WebhookDeliveryQuery,
		returns: { 200: WebhookDeliveryPage },
		failures: { 404: 'No such element' },
		handle: async ({ params, query }, { caller, unit }) => {
			refuseReader(caller);
			const { id } = await unit.find(ElementsConfig, params.elements_config_id);
			const page = await deliveriesOf(unit, id, query.status).page(query);
			const items = page.data.map((row) => readDelivery(unit, row));
			return reply(200, withItems(page, items));
		},
	}),
	endpoint({
		...methods({ tag, path: `${member}/webhook_test`, params: ElementsConfigPath }).post,
		name: 'testWebhook',
		summary: "Send a test event to an element's webhook",
		description: 'The event is `{"type": "test", "element_key": ...}`. Its result appears in the list of deliveries.',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: 'No such element, or the element has no webhook' },
		handle: async ({ params }, { unit }) =>
			emptied(announceTest(unit, await unit.find(ElementsConfig, params.elements_config_id))),
	}),
	endpoint({
		...methods({ tag, path: `${member}/webhook_secret`, params: ElementsConfigPath }).get,
		name: 'getWebhookSecret',
		summary: "Get the signing secret of an element's webhook",
		description:
			'Follows Standard Webhooks: `webhook-signature` is `v1,` and the Base64 of an HMAC-SHA256 over id, timestamp ' +
			'and body. Requires an API key with the access level `admin`. Removing and recreating a webhook changes the ' +
			'secret.',
		access: 'environment.read',
		secret: true,
		returns: { 200: WebhookSecretRead },
		failures: { 404: 'No such element, or the element has no webhook' },
		handle: async ({ params }, { caller, unit }) => {
			requireAdmin(caller);
			const config = await unit.find(ElementsConfig, params.elements_config_id);
			return reply(200, readWebhookSecret(unit, config));
		},
	}),
];
