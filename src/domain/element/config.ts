import { groupBy } from '../../../compiler/group-by.js';
import { Failure, unprocessable } from '../../failure.js';
import { isSealed } from '../../store/account/secret.js';
import { onlyRow } from '../../store/query/only-row.js';
import {
	type ConfiguredLevel,
	deleteElementsConfig,
	ElementsConfig,
	type LevelRow,
	levelRows,
	replaceLevels,
} from '../../store/table/element/elements-config.js';
import { actionsIn, Resource, ResourceAction } from '../../store/table/resource.js';
import { grantRows, rolesKeyed } from '../../store/table/role.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { hiddenSecret } from '../../wire/decision/proxy-config.js';
import type {
	ElementsConfigCreate,
	ElementsConfigRead,
	ElementsConfigUpdate,
	WebhookEdit,
} from '../../wire/element/elements-config.js';
import { definedFields } from '../schema/defined-fields.js';
import { createRole } from '../schema/role.js';
import { grantPermissions } from '../schema/role-permission.js';
import { elementsConfigRecord, recordElementsConfigChange } from './config-record.js';
import { cancelRequests } from './request-record.js';
import { resolveLevels } from './role.js';
import {
	actionSetting,
	approvedRole,
	operateAction,
	requestsSetting,
	resourceSetting,
	reviewerRole,
	reviewersSetting,
} from './setting.js';

/** Converts elements to API objects. */
export async function readElementsConfigs(
	unit: ReadingUnit,
	rows: readonly ElementsConfig[],
	shown: WebhookVisibility,
): Promise<readonly ElementsConfigRead[]> {
	const levels = groupBy(
		await levelRows(
			unit,
			rows.map((row) => row.id),
		),
		(level) => level.config_id,
	);
	return rows.map((row) => {
		const { webhook_id, webhook_url, webhook_created_at, webhook_updated_at, ...config } = row;
		const webhook =
			webhook_id === null || webhook_url === null || webhook_created_at === null || webhook_updated_at === null
				? null
				: {
						...unit.scope,
						id: webhook_id,
						created_at: webhook_created_at,
						updated_at: webhook_updated_at,
						type: 'elements' as const,
						url: shown === 'whole' ? webhook_url : hidePath(webhook_url),
					};
		return { ...config, ...unit.scope, webhook, roles_to_levels: readLevels(levels.get(row.id) ?? []) };
	});
}

export async function readElementsConfig(
	unit: ReadingUnit,
	row: ElementsConfig,
	shown: WebhookVisibility,
): Promise<ElementsConfigRead> {
	return onlyRow(await readElementsConfigs(unit, [row], shown));
}

/**
 * Visible part of a webhook address. `origin` hides the path and query, because they often contain a secret.
 */
export type WebhookVisibility = 'whole' | 'origin';

/** Hides everything after the origin of a URL. */
export function hidePath(url: string): string {
	return `${URL.canParse(url) ? new URL(url).origin : ''}/${hiddenSecret}`;
}

function readLevels(rows: readonly LevelRow[]): ElementsConfigRead['roles_to_levels'] {
	const byLevel = groupBy(rows, ({ level }) => level);
	const rolesAt = (level: ConfiguredLevel) =>
		(byLevel.get(level) ?? []).map(({ role_id, key, name, resource_id }) => ({ id: role_id, key, name, resource_id }));
	return {
		LEVEL_1: rolesAt('LEVEL_1'),
		LEVEL_2: rolesAt('LEVEL_2'),
		LEVEL_3: rolesAt('LEVEL_3'),
		LEVEL_4: rolesAt('LEVEL_4'),
		HIDDEN: rolesAt('HIDDEN'),
		UNCONFIGURED: [],
	};
}

/**
 * Adds an element. Links an `approval_flow` element with the user management element in its settings. For an
 * `operation_approval` element, adds the roles for reviewers and approved users to the resource in its settings. Throws
 * `duplicate`, `unprocessable` for invalid references in settings, `invalid` for a user management element that is
 * already linked, and otherwise like `resolveLevels`.
 */
export async function createElementsConfig(unit: WritingUnit, body: ElementsConfigCreate): Promise<ElementsConfig> {
	const { key, name, elements_type, settings, email_notifications, webhook } = body;
	const levels = await resolveLevels(unit, body.roles_to_levels);
	const columns = {
		...unit.stamp(),
		key,
		name,
		elements_type,
		settings,
		email_notifications,
		is_active: false,
		...webhookColumns(unit, webhook ?? null),
	};
	const row = onlyRow(await unit.insert(ElementsConfig, [columns], () => key));
	await replaceLevels(unit, row.id, levels);
	unit.record('elements_config', 'create', key, null, await elementsConfigRecord(unit, row));
	await link(unit, row, null);
	await makeApprovalRoles(unit, row);
	return row;
}

/** Changes the passed element fields. Throws like `createElementsConfig`. */
export async function changeElementsConfig(
	unit: WritingUnit,
	row: ElementsConfig,
	body: ElementsConfigUpdate,
): Promise<ElementsConfig> {
	const { name, settings, email_notifications, webhook, roles_to_levels } = body;
	const levels = roles_to_levels && (await resolveLevels(unit, roles_to_levels));
	const columns = {
		...definedFields({ name, settings, email_notifications }),
		...(webhook === undefined ? {} : webhookColumns(unit, webhook, row)),
	};
	const after = await recordElementsConfigChange(unit, row, columns, async () => {
		if (levels !== undefined) await replaceLevels(unit, row.id, levels);
	});
	await link(unit, after, row);
	await makeApprovalRoles(unit, after);
	return after;
}

/** Marks an element as opened. */
export async function activateElementsConfig(unit: WritingUnit, row: ElementsConfig): Promise<void> {
	await recordElementsConfigChange(unit, row, { is_active: true });
}

/** Deletes an element, cancels its pending requests, and unlinks its linked element. */
export async function removeElementsConfig(unit: WritingUnit, row: ElementsConfig): Promise<void> {
	await cancelRequests(unit, row);
	await unlink(unit, row);
	unit.record('elements_config', 'delete', row.key, await elementsConfigRecord(unit, row), null);
	await deleteElementsConfig(unit, row);
}

function webhookColumns(unit: WritingUnit, webhook: WebhookEdit | null, before?: ElementsConfig) {
	if (webhook === null) {
		return {
			webhook_id: null,
			webhook_url: null,
			webhook_created_at: null,
			webhook_updated_at: null,
			secret_webhook_token: null,
		};
	}
	const { url, bearer_token } = webhook;
	const known = before?.secret_webhook_token ?? null;
	// Encrypting an unchanged token again would look like a change.
	const same = known !== null && bearer_token !== undefined && isSealed(unit.cipher, known, bearer_token);
	const token = bearer_token === undefined ? null : same ? known : unit.cipher.encrypt(bearer_token);
	if (before?.webhook_id && before.webhook_url === url && (same || token === known)) return {};
	return {
		webhook_id: before?.webhook_id ?? unit.clock.newId(),
		webhook_url: url,
		webhook_created_at: before?.webhook_created_at ?? unit.now,
		webhook_updated_at: unit.now,
		secret_webhook_token: token,
	};
}

/**
 * Links an `approval_flow` element with the user management element in its settings, in both directions. Unlinks the
 * element in the settings of `before`.
 */
async function link(unit: WritingUnit, row: ElementsConfig, before: ElementsConfig | null): Promise<void> {
	if (row.elements_type !== 'approval_flow') return;
	const wanted = row.settings[reviewersSetting];
	const former = before?.settings[reviewersSetting];
	if (former !== undefined && former !== wanted) await clearSetting(unit, String(former), requestsSetting);
	if (wanted === undefined) return;
	const other = await findLinked(unit, wanted);
	const linked = other.settings[requestsSetting];
	if (linked !== undefined && linked !== row.key) {
		throw new Failure(
			'invalid',
			`the element \`${other.key}\` already reviews the requests of the element \`${linked}\``,
		);
	}
	await recordElementsConfigChange(unit, other, { settings: { ...other.settings, [requestsSetting]: row.key } });
}

async function findLinked(unit: ReadingUnit, reference: string | number | boolean): Promise<ElementsConfig> {
	const other = (await unit.findMany(ElementsConfig, [String(reference)])).get(String(reference));
	if (other?.elements_type === 'user_management') return other;
	const msg = `must be an element of the type \`user_management\`, got \`${reference}\``;
	throw unprocessable([{ loc: ['body', 'settings', reviewersSetting], msg, type: 'unknown_element' }]);
}

/** Removes the link to an element from the element at the opposite end. */
async function unlink(unit: WritingUnit, { settings, elements_type }: ElementsConfig): Promise<void> {
	const ends: Partial<Record<ElementsConfig['elements_type'], readonly [own: string, others: string]>> = {
		approval_flow: [reviewersSetting, requestsSetting],
		user_management: [requestsSetting, reviewersSetting],
	};
	const [own, others] = ends[elements_type] ?? [];
	if (own === undefined || others === undefined) return;
	const linked = settings[own];
	if (linked !== undefined) await clearSetting(unit, String(linked), others);
}

async function clearSetting(unit: WritingUnit, reference: string, name: string): Promise<void> {
	const row = (await unit.findMany(ElementsConfig, [reference])).get(reference);
	if (row === undefined) return;
	const { [name]: _, ...settings } = row.settings;
	await recordElementsConfigChange(unit, row, { settings });
}

/**
 * Adds the action `operate` and the roles `_Reviewer_` and `_Approved_` to the resource of an `operation_approval`
 * element, if they are missing. Grants `_Approved_` the action in the settings. The roles remain when the element
 * is deleted, because they may be assigned.
 */
async function makeApprovalRoles(unit: WritingUnit, { elements_type, settings }: ElementsConfig): Promise<void> {
	if (elements_type !== 'operation_approval') return;
	const reference = settings[resourceSetting];
	const named = settings[actionSetting];
	if (reference === undefined && named !== undefined) {
		const msg = `names the action \`${named}\`, which requires the setting \`${resourceSetting}\``;
		throw unprocessable([{ loc: ['body', 'settings', actionSetting], msg, type: 'unknown_action' }]);
	}
	if (reference === undefined) return;
	const resource = (await unit.findMany(Resource, [String(reference)])).get(String(reference));
	if (resource === undefined) {
		const msg = `must be an existing resource, got \`${reference}\``;
		throw unprocessable([{ loc: ['body', 'settings', resourceSetting], msg, type: 'unknown_resource' }]);
	}
	const actions = await actionsIn(unit, [resource.id]).all();
	if (!actions.some(({ key }) => key === operateAction)) {
		const columns = { key: operateAction, name: operateAction, description: null, attributes: null };
		await unit.create(ResourceAction, { ...columns, resource_id: resource.id }, `${resource.key}:${operateAction}`);
	}
	if (named !== undefined && named !== operateAction && !actions.some(({ key }) => key === named)) {
		const msg = `must be an action of the resource \`${resource.key}\`, got \`${named}\``;
		throw unprocessable([{ loc: ['body', 'settings', actionSetting], msg, type: 'unknown_action' }]);
	}
	const known = await rolesKeyed(unit, resource.id, [reviewerRole, approvedRole]).all();
	const isMissing = (key: string) => !known.some((role) => role.key === key);
	if (isMissing(reviewerRole)) await createRole(unit, { key: reviewerRole, name: reviewerRole }, resource);
	if (isMissing(approvedRole)) {
		await createRole(unit, { key: approvedRole, name: approvedRole, permissions: [operateAction] }, resource);
	}
	if (named !== undefined) await grantApproved(unit, resource, String(named));
}

/** Grants an action to the resource's role for approved users, unless the role already has this action. */
async function grantApproved(unit: WritingUnit, resource: Resource, action: string): Promise<void> {
	const [role] = await rolesKeyed(unit, resource.id, [approvedRole]).all();
	const wanted = (await actionsIn(unit, [resource.id]).all()).find(({ key }) => key === action);
	if (role === undefined || wanted === undefined) return;
	const held = await grantRows(unit, [role.id]);
	if (held.some(({ action_id }) => action_id === wanted.id)) return;
	await grantPermissions(unit, role, [action]);
}
