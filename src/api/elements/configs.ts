import {
	changeElementsConfig,
	createElementsConfig,
	readElementsConfig,
	readElementsConfigs,
	removeElementsConfig,
} from '../../domain/element/config.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { allElementsConfigs, ElementsConfig } from '../../store/table/element/elements-config.js';
import { Reference } from '../../wire/common.js';
import {
	ElementsConfigCreate,
	ElementsConfigPage,
	ElementsConfigRead,
	ElementsConfigUpdate,
} from '../../wire/element/elements-config.js';
import { PageQuery } from '../../wire/query.js';
import { EnvironmentPath, endpoint, mayWrite } from '../access.js';
import { withItems } from '../list-answer.js';

const tag = 'Elements configs';
const elements = '/v2/elements/:proj_id/:env_id';
const collection = `${elements}/config`;
const member = `${collection}/:elements_config_id`;
const ElementsConfigPath = EnvironmentPath.extend({ elements_config_id: Reference });
const description =
	'Settings for `approval_flow`: `user_management_element` is the element whose owners review the requests. ' +
	'Settings for `operation_approval`: `resource` is the resource, which gets the action `operate` and the roles ' +
	'`_Reviewer_` and `_Approved_`; `action` is an additional action granted by `_Approved_`; `single_use` is true if ' +
	'each approval can be consumed once.';
const unknown = 'No such element, role or resource';

const deletion = {
	summary: 'Delete an element',
	tag,
	method: 'delete',
	access: 'environment.write',
	params: ElementsConfigPath,
	returns: { 204: null },
	failures: { 404: 'No such element' },
} as const;
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });
const memberPlace = methods({ tag, path: member, params: ElementsConfigPath });

/** Element configurations: the purpose of each embedded page, and each role's permission level in it. */
export const elementsConfigs = [
	endpoint({
		...collectionPlace.get,
		name: 'listElementsConfigs',
		summary: 'List elements',
		access: 'environment.read',
		query: PageQuery,
		returns: { 200: ElementsConfigPage },
		handle: async ({ query }, { unit, caller }) => {
			const page = await allElementsConfigs(unit).page(query);
			const items = await readElementsConfigs(unit, page.data, mayWrite(caller) ? 'whole' : 'origin');
			return reply(200, withItems(page, items));
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createElementsConfig',
		summary: 'Create an element',
		description,
		access: 'environment.write',
		body: ElementsConfigCreate,
		example: {
			key: 'members',
			name: 'Members',
			elements_type: 'user_management',
			settings: { show_add_user: true },
			roles_to_levels: { LEVEL_1: ['editor'], LEVEL_4: ['viewer'] },
			webhook: { url: 'https://app.example.com/hooks/members', bearer_token: 'a-secret' },
		},
		returns: { 200: ElementsConfigRead },
		failures: {
			400: 'A role key is ambiguous, because several resources have it',
			404: unknown,
			409: 'An element with this key exists',
		},
		handle: async ({ body }, { unit }) =>
			reply(200, await readElementsConfig(unit, await createElementsConfig(unit, body), 'whole')),
	}),
	endpoint({
		...memberPlace.get,
		name: 'getElementsConfig',
		summary: 'Get an element',
		access: 'environment.read',
		returns: { 200: ElementsConfigRead },
		failures: { 404: 'No such element' },
		handle: async ({ params }, { unit, caller }) => {
			const row = await unit.find(ElementsConfig, params.elements_config_id);
			return reply(200, await readElementsConfig(unit, row, mayWrite(caller) ? 'whole' : 'origin'));
		},
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateElementsConfig',
		summary: 'Update an element',
		description: `${description} \`settings\` and \`roles_to_levels\` are replaced as a whole. A null webhook is removed.`,
		access: 'environment.write',
		body: ElementsConfigUpdate,
		example: { name: 'People', roles_to_levels: { LEVEL_1: ['editor'], LEVEL_3: ['document#viewer'] } },
		returns: { 200: ElementsConfigRead },
		failures: { 400: 'A role key is ambiguous, because several resources have it', 404: unknown },
		handle: async ({ params, body }, { unit }) => {
			const row = await unit.find(ElementsConfig, params.elements_config_id);
			return reply(200, await readElementsConfig(unit, await changeElementsConfig(unit, row, body), 'whole'));
		},
	}),
	...([`${elements}/:elements_config_id`, member] as const).map((path, index) =>
		endpoint({
			...deletion,
			name: index === 0 ? 'deleteElementsConfig' : 'deleteElementsConfigUnderConfig',
			path,
			handle: async ({ params }, { unit }) =>
				emptied(removeElementsConfig(unit, await unit.find(ElementsConfig, params.elements_config_id))),
		}),
	),
];
