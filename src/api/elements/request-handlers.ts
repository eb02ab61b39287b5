import type { ActingUser } from '../../domain/element/level.js';
import {
	findRequestElement,
	findVisibleRequest,
	moveRequest,
	reviewRequest,
	visibleRequests,
} from '../../domain/element/request.js';
import type { Move } from '../../domain/element/request-state.js';
import { reply } from '../../http/endpoint.js';
import type { ElementRequest, ListedRequest, RequestFilter } from '../../store/table/element-request.js';
import type { ElementsConfig } from '../../store/table/elements-config.js';
import { Resource } from '../../store/table/resource.js';
import { Role } from '../../store/table/role.js';
import { Tenant } from '../../store/table/tenant.js';
import { User } from '../../store/table/user.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import { type Page, readPage } from '../../store/unit/row-query.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import type { AccessRequestQuery, AccessRequestReview, RequestType } from '../../wire/element/element-request.js';
import { findIds, findInstanceIds } from '../facts/find-ids.js';
import { withItems } from '../list-answer.js';

/** Operations that differ between request types. */
interface RequestKind<Create, Read, Listed> {
	readonly type: RequestType;
	readonly create: (
		unit: WritingUnit,
		config: ElementsConfig,
		actor: ActingUser,
		body: Create,
	) => Promise<ElementRequest>;
	readonly read: (unit: ReadingUnit, row: ElementRequest) => Read;
	readonly readListed: (unit: ReadingUnit, row: ListedRequest) => Listed;
}

/** Filters for both lists. Each filter is a reference, by key or id. */
type RequestQuery = Page & Partial<AccessRequestQuery>;

/**
 * Returns the endpoint handlers for a request type. The same handlers serve signed-in users and API keys. `element`
 * names the element, and `reference` the request.
 */
export function requestHandlers<Create, Read, Listed>(kind: RequestKind<Create, Read, Listed>) {
	const find = (unit: ReadingUnit, element: string) => findRequestElement(unit, element, kind.type);
	return {
		list: async (unit: ReadingUnit, element: string, actor: ActingUser, query: RequestQuery) => {
			const config = await find(unit, element);
			const { rows } = await visibleRequests(unit, config, actor, await resolveFilter(unit, query));
			const page = await readPage(rows, query);
			const items = page.data.map((row) => kind.readListed(unit, row));
			return reply(200, { ...withItems(page, items), data: items });
		},
		create: async (unit: WritingUnit, element: string, actor: ActingUser, body: Create) => {
			return reply(200, kind.read(unit, await kind.create(unit, await find(unit, element), actor, body)));
		},
		get: async (unit: ReadingUnit, element: string, actor: ActingUser, reference: string) => {
			const { request } = await findVisibleRequest(unit, await find(unit, element), actor, reference);
			return reply(200, kind.read(unit, request));
		},
		review: async (
			unit: WritingUnit,
			element: string,
			actor: ActingUser,
			reference: string,
			review: AccessRequestReview,
		) => {
			const request = await reviewRequest(unit, await find(unit, element), actor, reference, review);
			return reply(200, kind.read(unit, request));
		},
		move: async (
			unit: WritingUnit,
			element: string,
			actor: ActingUser,
			reference: string,
			move: Move,
			review?: AccessRequestReview,
		) => {
			const request = await moveRequest(unit, await find(unit, element), actor, reference, move, review);
			return reply(200, kind.read(unit, request));
		},
	};
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
