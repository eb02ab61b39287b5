import { z } from 'zod';
import { definedFields } from '../../domain/schema/defined-fields.js';
import { methods, reply } from '../../http/endpoint.js';
import { Reference } from '../../wire/common.js';
import { OrganizationRead, OrganizationUpdate } from '../../wire/general/organization.js';
import { OrganizationStats } from '../../wire/general/statistics.js';
import { pageShape, Search } from '../../wire/query.js';
import { endpoint } from '../access.js';

const tag = 'Organizations';
const member = '/v2/orgs/:org_id';

const OrganizationPath = z.object({ org_id: Reference });
const memberPlace = methods({ tag, path: member, params: OrganizationPath });

/** Organization to which the calling API key belongs. */
export const organizations = [
	endpoint({
		...methods({ tag, path: '/v2/orgs' }).get,
		name: 'listOrganizations',
		summary: 'List the organization of the API key',
		description:
			'Returns a list with one organization, or an empty list if `search` is neither its id nor part of its key or ' +
			'name.',
		access: 'organization.read',
		query: z.object({ search: Search, ...pageShape }),
		returns: { 200: z.array(OrganizationRead) },
		handle: async ({ query }, { account }) => {
			const data = await account.organizations(query.search).slice(query);
			return reply(200, [...data]);
		},
	}),
	endpoint({
		...methods({ tag, path: '/v2/orgs/active/org' }).get,
		name: 'getActiveOrganization',
		summary: 'Get the organization of the API key',
		access: 'organization.read',
		returns: { 200: OrganizationRead },
		handle: async (_, { account }) => reply(200, await account.organization(account.organizationId)),
	}),
	endpoint({
		...memberPlace.get,
		name: 'getOrganization',
		summary: 'Get an organization',
		access: 'organization.read',
		returns: { 200: OrganizationRead },
		failures: { 404: 'No such organization' },
		handle: async ({ params }, { account }) => reply(200, await account.organization(params.org_id)),
	}),
	endpoint({
		...methods({ tag, path: `${member}/stats`, params: OrganizationPath }).get,
		name: 'getOrganizationStats',
		summary: 'Get an organization, with object counts in the scope of the API key',
		access: 'organization.read',
		returns: { 200: OrganizationStats },
		failures: { 404: 'No such organization' },
		handle: async ({ params }, { account, caller }) => {
			const organization = await account.organization(params.org_id);
			return reply(200, { ...organization, stats: await account.counts(caller) });
		},
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateOrganization',
		summary: 'Update an organization',
		access: 'organization.write',
		body: OrganizationUpdate,
		example: { name: 'Acme' },
		returns: { 200: OrganizationRead },
		failures: { 404: 'No such organization' },
		handle: async ({ params, body }, { account }) => {
			const organization = await account.organization(params.org_id);
			return reply(200, await account.updateOrganization(organization, definedFields(body)));
		},
	}),
];
