import { notFound } from '../../failure.js';
import { webhookSigningKeys } from '../../store/account/secret.js';
import type { ElementRequest } from '../../store/table/element/element-request.js';
import { ElementsConfig, levelRows } from '../../store/table/element/elements-config.js';
import type { UserInvite } from '../../store/table/element/user-invite.js';
import { insertDelivery, type WebhookDelivery } from '../../store/table/element/webhook-delivery.js';
import type { InstanceRow } from '../../store/table/resource-instance.js';
import type { Role } from '../../store/table/role.js';
import type { AssignmentRow } from '../../store/table/role-assignment.js';
import type { Tenant } from '../../store/table/tenant.js';
import type { User } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { PermissionLevel } from '../../wire/element/elements-config.js';
import type { WebhookDeliveryRead, WebhookSecretRead } from '../../wire/element/webhook-delivery.js';

/** Adds element events for webhooks to the outbox, in the same unit as the change. */

/** Webhook payload by event type. */
interface Events {
	readonly create_user: {
		readonly email: string | null;
		readonly tenant_key: string;
		readonly role: string | null;
		readonly permission_level: PermissionLevel | null;
	};
	readonly invite_user: {
		readonly email: string;
		readonly role: string;
		readonly tenant_id: string;
		readonly user_invite_id: string;
		readonly resource_instance_key?: string;
	};
	readonly role_assignment: {
		readonly user_id: string;
		readonly tenant_id: string;
		readonly role: string;
		readonly permission_level: PermissionLevel;
	};
}

/** Announces an added user. */
export async function announceUser(
	unit: WritingUnit,
	config: ElementsConfig,
	{ user, tenant, role }: { readonly user: User; readonly tenant: Tenant; readonly role: Role | null },
): Promise<void> {
	const permission_level = role === null ? null : await roleLevel(unit, config, role.id);
	const { email } = user;
	await announce(unit, config, 'create_user', {
		email,
		tenant_key: tenant.key,
		role: role?.key ?? null,
		permission_level,
	});
}

/** Announces an invited user. The application can then send mail. */
export async function announceInvite(
	unit: WritingUnit,
	config: ElementsConfig,
	{
		invite,
		role,
		instance,
	}: { readonly invite: UserInvite; readonly role: Role; readonly instance: InstanceRow | null },
): Promise<void> {
	const { email, tenant_id, id } = invite;
	const told = { email, role: role.key, tenant_id, user_invite_id: id };
	const onInstance = instance === null ? told : { ...told, resource_instance_key: instance.key };
	await announce(unit, config, 'invite_user', onInstance);
}

/** Announces a role assigned to a member. */
export async function announceAssignment(
	unit: WritingUnit,
	config: ElementsConfig,
	{ user_id, tenant_id, role, role_id }: AssignmentRow,
): Promise<void> {
	const permission_level = await roleLevel(unit, config, role_id);
	await announce(unit, config, 'role_assignment', { user_id, tenant_id, role, permission_level });
}

/** Announces a new request or a new state. `details` are fields from the request's API object. */
export async function announceRequest(
	unit: WritingUnit,
	config: ElementsConfig,
	request: ElementRequest,
	details: object,
): Promise<void> {
	if (config.webhook_url === null) return;
	const { type, requesting_user_id, reason, status, reviewer_user_id, reviewer_comment } = request;
	const payload = {
		requesting_user_id,
		[`${type}_details`]: details,
		reason,
		status,
		reviewer_user_id,
		reviewer_comment,
	};
	await insertDelivery(unit, { config_id: config.id, event: type, payload });
}

/** Adds a test event for an element's webhook. Throws `not_found` if there is no webhook. */
export async function announceTest(unit: WritingUnit, config: ElementsConfig): Promise<void> {
	if (config.webhook_url === null) throw notFound('Webhook', config.key);
	const payload = { type: 'test', element_key: config.key };
	await insertDelivery(unit, { config_id: config.id, event: payload.type, payload });
}

async function announce<E extends keyof Events>(
	unit: WritingUnit,
	config: ElementsConfig,
	event: E,
	told: Events[E],
): Promise<void> {
	if (config.webhook_url === null) return;
	await insertDelivery(unit, { config_id: config.id, event, payload: { ...told, type: event } });
}

async function roleLevel(unit: ReadingUnit, { id }: ElementsConfig, roleId: string): Promise<PermissionLevel> {
	return (await levelRows(unit, [id])).find(({ role_id }) => role_id === roleId)?.level ?? 'UNCONFIGURED';
}

/** Converts a delivery to its API object. */
export function readDelivery(unit: ReadingUnit, row: WebhookDelivery): WebhookDeliveryRead {
	return { ...row, ...unit.scope, next_attempt_at: row.status === 'pending' ? row.next_attempt_at : null };
}

/**
 * Returns the signing secret for deliveries to an element's webhook. Throws `not_found` for an element without a
 * webhook.
 */
export function readWebhookSecret(unit: ReadingUnit, config: ElementsConfig): WebhookSecretRead {
	if (config.webhook_id === null) throw notFound('Webhook', config.key);
	// Standard Webhooks defines the prefix, and its libraries accept secrets in this form.
	const [key] = webhookSigningKeys(unit.cipher, config.webhook_id);
	return { secret: `whsec_${key.toString('base64')}` };
}

/** Returns the element with this id; `null` if the element was deleted. */
export async function findAnnouncing(unit: ReadingUnit, id: string | null): Promise<ElementsConfig | null> {
	return id === null ? null : ((await unit.findMany(ElementsConfig, [id])).get(id) ?? null);
}
