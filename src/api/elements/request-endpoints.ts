import type { z } from 'zod';
import type { ActingUser } from '../../domain/element/level.js';
import {
	findRequestElement,
	findVisibleRequest,
	moveRequest,
	reviewRequest,
	visibleRequests,
} from '../../domain/element/request.js';
import { refuseManyRequests } from '../../domain/element/request-limit.js';
import type { Move } from '../../domain/element/request-state.js';
import { reply } from '../../http/endpoint.js';
import type { Page } from '../../store/query/row-query.js';
import type { ElementRequest, ListedRequest, RequestFilter } from '../../store/table/element/element-request.js';
import type { ElementsConfig } from '../../store/table/element/elements-config.js';
import { Resource } from '../../store/table/resource.js';
import { Role } from '../../store/table/role.js';
import { Tenant } from '../../store/table/tenant.js';
import { User } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import {
	type AccessRequestQuery,
	type AccessRequestReview,
	RequestCancellation,
	RequestComment,
	type RequestType,
} from '../../wire/element/element-request.js';
import { type Contexts, endpoint } from '../access.js';
import { findIds, findInstanceIds } from '../facts/find-ids.js';
import { sessionActor } from './session-actor.js';

/** Filters for both lists. Each filter is a reference, by key or id. */
type RequestQuery = Page & Partial<AccessRequestQuery>;

/** Differences between access requests and operation approvals. */
interface KindOfRequest<Body, Created, Read, Listed> {
	readonly type: RequestType;
	readonly tag: string;
	/** Name of the kind in endpoint names, such as `AccessRequest`. */
	readonly name: string;
	/** Name of the kind in summaries, with an article. */
	readonly title: string;
	readonly body: z.ZodType<Body, Created>;
	readonly reviewBody: z.ZodType<AccessRequestReview>;
	readonly query: z.ZodType<RequestQuery>;
	readonly returns: z.ZodType<unknown, Read>;
	readonly page: z.ZodType<unknown, { data: Listed[]; total_count: number; page_count: number }>;
	readonly create: { readonly summary: string; readonly example: Created };
	readonly review: { readonly summary: string; readonly example: AccessRequestReview };
	readonly approval: string;
	readonly handleCreate: (
		unit: WritingUnit,
		config: ElementsConfig,
		actor: ActingUser,
		body: Body,
	) => Promise<ElementRequest>;
	readonly read: (unit: ReadingUnit, row: ElementRequest) => Read;
	readonly readListed: (unit: ReadingUnit, row: ListedRequest) => Listed;
}

/** Differences between signed-in users, and API keys on behalf of users. */
export interface RequestCaller {
	readonly access:
		| { readonly read: 'element.read'; readonly write: 'element.write' }
		| { readonly read: 'environment.read'; readonly write: 'environment.write' };
	/** Ending of the endpoint names. */
	readonly ending: string;
	readonly description: string;
}

type Params = Readonly<Record<string, string>>;

/** Paths for a list and for its items, with their parameters. */
export interface RequestPaths {
	readonly list: string;
	readonly listParams: z.ZodType<Params>;
	readonly memberParams: z.ZodType<Params>;
}

const failures = {
	400: 'The tenant is different, the role cannot be assigned in the requested scope, or the element has a different type',
	403: 'The user is not permitted to perform this action',
	404: 'No such element, user, tenant or request, or not visible to the user',
	409: 'The request is not pending',
};

/** Declares the endpoints for a kind of request and a caller. */
export function requestEndpoints<Body, Created, Read, Listed>(
	kind: KindOfRequest<Body, Created, Read, Listed>,
	{ access, ending, description }: RequestCaller,
	{ list, listParams, memberParams }: RequestPaths,
) {
	const { tag, title } = kind;
	const nameOf = (verb: string) => `${verb}${kind.name}${ending}`;
	const find = (unit: ReadingUnit, params: Params) =>
		findRequestElement(unit, params['elements_config_id'] ?? '', kind.type);
	const reference = (params: Params) => params[`${kind.type}_id`] ?? '';
	const collection = { tag, description, path: list, params: listParams } as const;
	const member = { tag, description, params: memberParams, returns: { 200: kind.returns } } as const;
	const path = `${list}/:${kind.type}_id`;
	const moving = (move: Move) =>
		({
			...member,
			name: nameOf(move),
			method: 'put',
			path: `${path}/${move}`,
			access: access.write,
			failures,
		}) as const;
	const handleMove =
		(move: Move) =>
		async ({ params, body }: { readonly params: Params; readonly body: AccessRequestReview }, opened: Writing) => {
			const { unit } = opened;
			const actor = await findActor(params, opened);
			const row = await moveRequest(unit, await find(unit, params), actor, reference(params), move, body);
			return reply(200, kind.read(unit, row));
		};
	return [
		endpoint({
			...collection,
			name: `list${kind.name}s${ending}`,
			summary: `List the ${kind.title}s visible to the user`,
			method: 'get',
			access: access.read,
			query: kind.query,
			returns: { 200: kind.page },
			failures: { 400: failures[400], 404: failures[404] },
			handle: async ({ params, query }, opened) => {
				const { unit } = opened;
				const config = await find(unit, params);
				const actor = await findActor(params, opened);
				const rows = await visibleRequests(unit, config, actor, await resolveFilter(unit, query));
				const page = await rows.page(query);
				return reply(200, { ...page, data: page.data.map((row) => kind.readListed(unit, row)) });
			},
		}),
		endpoint({
			...collection,
			name: nameOf('create'),
			summary: kind.create.summary,
			method: 'post',
			access: access.write,
			body: kind.body,
			example: kind.create.example,
			returns: { 200: kind.returns },
			failures: { 400: failures[400], 403: failures[403], 404: failures[404] },
			handle: async ({ params, body }, opened) => {
				const { unit } = opened;
				const actor = await findActor(params, opened);
				if ('session' in opened) await refuseManyRequests(unit, actor);
				return reply(200, kind.read(unit, await kind.handleCreate(unit, await find(unit, params), actor, body)));
			},
		}),
		endpoint({
			...member,
			name: nameOf('get'),
			summary: `Get an ${title}`,
			method: 'get',
			path,
			access: access.read,
			failures: { 400: failures[400], 404: failures[404] },
			handle: async ({ params }, opened) => {
				const { unit } = opened;
				const actor = await findActor(params, opened);
				const { request } = await findVisibleRequest(unit, await find(unit, params), actor, reference(params));
				return reply(200, kind.read(unit, request));
			},
		}),
		endpoint({
			...member,
			name: nameOf('review'),
			summary: kind.review.summary,
			description: `${description} The request must be pending.`,
			method: 'patch',
			path: `${path}/reviewer`,
			access: access.write,
			body: kind.reviewBody,
			example: kind.review.example,
			failures,
			handle: async ({ params, body }, opened) => {
				const { unit } = opened;
				const actor = await findActor(params, opened);
				return reply(
					200,
					kind.read(unit, await reviewRequest(unit, await find(unit, params), actor, reference(params), body)),
				);
			},
		}),
		endpoint({
			...moving('approve'),
			summary: `Approve an ${title}`,
			description: `${description} ${kind.approval}`,
			body: kind.reviewBody,
			example: { reviewer_comment: 'Welcome.' },
			handle: handleMove('approve'),
		}),
		endpoint({
			...moving('deny'),
			summary: `Deny an ${title}`,
			body: RequestComment,
			example: { reviewer_comment: 'Please ask the owner.' },
			handle: handleMove('deny'),
		}),
		endpoint({
			...moving('cancel'),
			summary: `Cancel an ${title}`,
			description: `${description} Only the requesting user can cancel a request.`,
			body: RequestCancellation,
			example: {},
			handle: ({ params }, opened) => handleMove('cancel')({ params, body: {} }, opened),
		}),
	];
}

type Writing = Contexts[RequestCaller['access']['write']];

/**
 * Returns the acting user: the session's user in the session's tenant, or the user and the tenant in the path. Throws
 * `not_found`.
 */
async function findActor(
	{ user_id = '', tenant_id = '' }: Params,
	opened: Contexts[RequestCaller['access']['read' | 'write']],
): Promise<ActingUser> {
	if ('session' in opened) return sessionActor(opened.session);
	const user = await opened.unit.find(User, user_id);
	const tenant = await opened.unit.find(Tenant, tenant_id);
	return { user_id: user.id, tenant_id: tenant.id };
}

/** Resolves the list filters to ids. A reference to an unknown object matches nothing. */
async function resolveFilter(unit: ReadingUnit, query: RequestQuery): Promise<RequestFilter> {
	const list = (reference: string | undefined) => (reference === undefined ? undefined : [reference]);
	return {
		status: query.status,
		tenant_ids: await findIds(unit, Tenant, list(query.tenant)),
		role_ids: await findIds(unit, Role, list(query.role)),
		requesting_user_ids: await findIds(unit, User, list(query.requesting_user)),
		resource_ids: await findIds(unit, Resource, list(query.resource)),
		resource_instance_ids: await findInstanceIds(unit, list(query.resource_instance_id)),
	};
}
