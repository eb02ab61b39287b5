import { readElementSession } from '../../domain/element/session.js';
import { notFound } from '../../failure.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { User } from '../../store/table/user.js';
import { Reference } from '../../wire/common.js';
import { ElementSessionPage, ElementSessionQuery, ElementSessionsOfUser } from '../../wire/element/element-session.js';
import { EnvironmentPath, endpoint } from '../access.js';
import { withItems } from '../list-answer.js';

const tag = 'Elements';
const collection = '/v2/elements/:proj_id/:env_id/sessions';
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });

/** Element sessions in an environment, for its administrators. */
export const elementSessions = [
	endpoint({
		...collectionPlace.get,
		name: 'listElementSessions',
		summary: 'List element sessions in an environment, oldest first',
		access: 'environment.sessions',
		query: ElementSessionQuery,
		returns: { 200: ElementSessionPage },
		failures: { 404: 'No such project, environment or user' },
		handle: async ({ query }, { unit, sessions }) => {
			const user = query.user === undefined ? undefined : await unit.find(User, query.user);
			const page = await sessions.list(user?.id).page(query);
			const items = page.data.map((row) => readElementSession(unit, row));
			return reply(200, withItems(page, items));
		},
	}),
	endpoint({
		...collectionPlace.delete,
		name: 'endElementSessions',
		summary: 'End all element sessions of a user',
		access: 'environment.sessions',
		query: ElementSessionsOfUser,
		returns: { 204: null },
		failures: { 404: 'No such project, environment or user' },
		handle: async ({ query }, { unit, sessions }) =>
			emptied(sessions.endOfUser((await unit.find(User, query.user)).id)),
	}),
	endpoint({
		name: 'endElementSession',
		summary: 'End an element session, with its cookie and bearer token',
		tag,
		method: 'delete',
		path: `${collection}/:session_id`,
		access: 'environment.sessions',
		params: EnvironmentPath.extend({ session_id: Reference }),
		returns: { 204: null },
		failures: { 404: 'No such project, environment or session' },
		handle: async ({ params }, { sessions }) => {
			if (!(await sessions.end(params.session_id))) throw notFound('ElementSession', params.session_id);
			return reply(204);
		},
	}),
];
