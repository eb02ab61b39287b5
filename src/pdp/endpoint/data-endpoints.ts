/**
 * Documents for clients of OPA's Data API, on a separate listener. They contain the same decisions and listings,
 * structured like the policy packages.
 */

import { z } from 'zod';
import type { Steps } from '../../../compiler/steps.js';
import type { Failure } from '../../failure.js';
import { methods, Raw, reply } from '../../http/endpoint.js';
import { LocalAssignment, type Query } from '../../wire/decision/check.js';
import {
	AssignmentsInput,
	BulkInput,
	CheckInput,
	PermissionsInput,
	RootResult,
	UsersInput,
} from '../../wire/decision/data-api.js';
import { type CheckPlace, checkInput, permissionsInput } from '../decide/contextual-facts.js';
import { type DecisionContext, decide } from '../decide/decide.js';
import { type Mode, normaliseUsers } from '../decide/normalise.js';
import { forEachItem } from '../engine/chunks.js';
import { arrayChunks } from '../engine/json-chunks.js';
import { allowedTenants } from '../listing/all-tenants.js';
import { authorizedUsers } from '../listing/authorized-users.js';
import { localAssignments } from '../listing/local-assignments.js';
import { permissions } from '../listing/permissions.js';
import { userTenants } from '../listing/user-tenants.js';
import { explains } from './decision-endpoints.js';
import { chunkedReply, endpoint, revisionHeader, unavailable, unavailableOrCostly } from './endpoint.js';

type Root = z.output<typeof RootResult>['result'];

const tag = 'Documents';

export function dataEndpoints(mode: Mode) {
	return [
		endpoint({
			...methods({ tag, path: '/v1/data/permit/root' }).post,
			name: 'readRoot',
			summary: 'Decide a check',
			access: 'key',
			body: CheckInput,
			returns: { 200: RootResult },
			failures: unavailable,
			handle: ({ body }, { now }) => {
				const context = now();
				return reply(200, { result: root(body.input, context, mode, ['input']) }, revisionHeader(context));
			},
		}),
		endpoint({
			...methods({ tag, path: '/v1/data/permit/bulk' }).post,
			name: 'readBulk',
			summary: 'Decide multiple checks at one revision',
			access: 'key',
			body: BulkInput,
			returns: { 200: z.unknown() },
			failures: unavailableOrCostly,
			handle: async ({ body, closed }, { read }) => {
				const work = (context: DecisionContext) => roots(body.input, context, mode);
				return chunkedReply(await read({ kind: 'batch', work, closed }));
			},
		}),
		tenantsDocument('readAnyTenant', '/v1/data/permit/any_tenant', mode),
		tenantsDocument('readAllTenants', '/v1/data/permit/all_tenants', mode),
		listingDocument({
			name: 'readUserPermissions',
			summary: 'List user permissions, and the tenants where the user holds a role',
			path: '/v1/data/permit/user_permissions',
			body: PermissionsInput,
			*work(context, query) {
				const input = permissionsInput(context, query, mode);
				const listed = yield* permissions(context, input);
				const tenants = yield* userTenants(context, input);
				return ['{"permissions":', ...listed, ',"tenants":', ...tenants, '}'];
			},
		}),
		listingDocument({
			name: 'readUserTenants',
			summary: 'List the tenants where a user holds a role',
			path: '/v1/data/permit/user_permissions/tenants',
			body: PermissionsInput,
			work: (context, query) => userTenants(context, permissionsInput(context, query, mode)),
		}),
		listingDocument({
			name: 'readAuthorizedUsers',
			summary: 'List the users who may perform an action on a resource',
			path: '/v1/data/permit/authorized_users/authorized_users',
			body: UsersInput,
			// The document itself has a field `result`.
			work: (context, query) => asResult(authorizedUsers(context, normaliseUsers(query, mode))),
		}),
		endpoint({
			...methods({ tag, path: '/v1/data/permit/api/role_assignments/list_role_assignments' }).post,
			name: 'readRoleAssignments',
			summary: 'List the roles assigned to users',
			access: 'key',
			body: AssignmentsInput,
			returns: { 200: z.object({ result: z.array(LocalAssignment) }) },
			failures: unavailableOrCostly,
			handle: async ({ body, closed }, { read }) => {
				const { filters, pagination } = body.input;
				const query = { ...filters, ...(pagination ?? { page: 1, per_page: 30 }) };
				const work = (context: DecisionContext) => localAssignments(context, query);
				const { result, ...from } = await read({ kind: 'listing', work, closed });
				return reply(200, { result }, revisionHeader(from));
			},
		}),
		endpoint({
			...methods({ tag, path: '/v1/data/*rest' }).post,
			name: 'readOther',
			summary: 'Return no result for a missing document',
			access: 'key',
			returns: {},
			handle: () => new Raw(200, { 'content-type': 'application/json' }, '{}'),
		}),
	];
}

/** Definition of a listing document. `work` returns its result as JSON. */
interface ListingDocument<Query> {
	readonly name: string;
	readonly summary: string;
	readonly path: string;
	readonly body: z.ZodType<{ readonly input: Query }>;
	readonly work: (context: DecisionContext, query: Query) => Steps<readonly string[]>;
}

function listingDocument<Query>({ name, summary, path, body: schema, work }: ListingDocument<Query>) {
	return endpoint({
		...methods({ tag, path }).post,
		name,
		summary,
		access: 'key',
		body: schema,
		returns: { 200: z.unknown() },
		failures: unavailableOrCostly,
		handle: async ({ body, closed }, { read }) => {
			const listing = (context: DecisionContext) => asResult(work(context, body.input));
			return chunkedReply(await read({ kind: 'listing', work: listing, closed }));
		},
	});
}

function tenantsDocument(name: string, path: string, mode: Mode) {
	return listingDocument({
		name,
		summary: 'List the tenants in which a check is allowed',
		path,
		body: CheckInput,
		*work(context, query) {
			const list = yield* allowedTenants(context, query, mode, explains(query, undefined));
			return ['{"allowed_tenants":', ...list, '}'];
		},
	});
}

/** Renders a failure on the documents listener. */
export function renderDataFailure({ code, message }: Failure): unknown {
	return { code: code === 'unprocessable' || code === 'invalid' ? 'invalid_parameter' : code, message };
}

function root(query: Query, context: DecisionContext, mode: Mode, place: CheckPlace): Root {
	const explain = explains(query, undefined);
	const { allow, debug } = decide(context, checkInput(context, query, mode, place), explain);
	const plain = { allow, result: allow, debugger_activated: explain };
	return explain ? { ...plain, allowing_sources: allowingSources(debug), debug } : plain;
}

/** Returns the models that allow the check according to its explanation. */
function allowingSources(debug: unknown): string[] {
	const sections = z.record(z.string(), z.unknown()).safeParse(debug);
	const Allowing = z.object({ allow: z.literal(true) });
	return ['abac', 'rbac', 'rebac'].filter((model) => Allowing.safeParse(sections.data?.[model]).success);
}

function* roots(queries: readonly Query[], context: DecisionContext, mode: Mode): Steps<readonly string[]> {
	const results: string[] = [];
	yield* forEachItem(queries.entries(), ([index, query]) =>
		results.push(JSON.stringify(root(query, context, mode, ['input', index]))),
	);
	return ['{"result":{"allow":', ...(yield* arrayChunks(results)), '}}'];
}

function* asResult(steps: Steps<readonly string[]>): Steps<readonly string[]> {
	return ['{"result":', ...(yield* steps), '}'];
}
