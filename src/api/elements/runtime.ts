import { activateElementsConfig, readElementsConfig } from '../../domain/element/config.js';
import { actorLevels } from '../../domain/element/level.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { ElementsConfig } from '../../store/table/element/elements-config.js';
import { instancesNamed } from '../../store/table/resource-instance.js';
import { Reference } from '../../wire/common.js';
import { ElementsRuntime, ElementsRuntimeQuery } from '../../wire/element/elements-config.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { sessionActor } from './session-actor.js';

const tag = 'Elements configs';
const member = '/v2/elements/:proj_id/:env_id/config/:elements_config_id';
const ElementsConfigPath = EnvironmentPath.extend({ elements_config_id: Reference });

/** Endpoints that an element calls after a signed-in user opens it. */
export const elementsRuntime = [
	endpoint({
		...methods({ tag, path: `${member}/runtime`, params: ElementsConfigPath }).get,
		name: 'getElementsRuntime',
		summary: "Get an element with the user's permission level",
		description:
			"The level comes from the user's roles in the tenant and, with `resource_instance_id`, on the instance. A " +
			'missing instance adds no roles. `webhook` is null, because users cannot see webhooks.',
		access: 'element.read',
		query: ElementsRuntimeQuery,
		returns: { 200: ElementsRuntime },
		failures: { 404: 'No such element' },
		handle: async ({ params, query }, { unit, session }) => {
			const row = await unit.find(ElementsConfig, params.elements_config_id);
			const named = query.resource_instance_id;
			const actor = sessionActor(session);
			const found = named === undefined ? [] : [...(await instancesNamed(unit, [named])).values()].flat();
			// Users learn nothing about instances in other tenants.
			const [instance, another] = found.filter(({ tenant_id }) => tenant_id === actor.tenant_id);
			const levels = await actorLevels(unit, row.id, actor);
			const current_permission_level = levels.onInstance(instance?.id ?? null);
			// Access request elements reveal the instance to the requesting user. All other element types hide it.
			const told = row.elements_type === 'approval_flow' && another === undefined ? instance : undefined;
			// Hide the webhook URL from users: it may contain a secret.
			const config = { ...(await readElementsConfig(unit, row, 'origin')), webhook: null };
			return reply(200, { config, current_permission_level, resource_id: told?.resource_id ?? null });
		},
	}),
	endpoint({
		...methods({ tag, path: `${member}/data/active`, params: ElementsConfigPath }).post,
		name: 'activateElement',
		summary: 'Record that an element was opened',
		access: 'element.write',
		returns: { 204: null },
		failures: { 404: 'No such element' },
		handle: async ({ params }, { unit }) =>
			emptied(activateElementsConfig(unit, await unit.find(ElementsConfig, params.elements_config_id))),
	}),
];
