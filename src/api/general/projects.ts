import { z } from 'zod';
import { createEnvironment } from '../../domain/environment.js';
import { definedFields } from '../../domain/schema/defined-fields.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { ConsoleConfirmation } from '../../wire/general/console-session.js';
import { ProjectCreate, ProjectRead, ProjectUpdate } from '../../wire/general/project.js';
import { PageQuery } from '../../wire/query.js';
import { endpoint, ProjectPath } from '../access.js';

const tag = 'Projects';

/** Projects in the caller's organization. */
export const projects = [
	endpoint({
		...methods({ tag, path: '/v2/projects' }).get,
		name: 'listProjects',
		summary: 'List projects in the scope of the API key',
		access: 'organization.read',
		query: PageQuery,
		returns: { 200: z.array(ProjectRead) },
		handle: async ({ query }, { account, caller }) => {
			const data = await account.projects(caller).slice(query);
			return reply(200, [...data]);
		},
	}),
	endpoint({
		...methods({ tag, path: '/v2/projects' }).post,
		name: 'createProject',
		summary: 'Create a project with initial environments',
		access: 'organization.write',
		body: ProjectCreate,
		example: { key: 'shop', name: 'Shop' },
		returns: { 200: ProjectRead },
		failures: { 409: 'A project with this key exists' },
		handle: async ({ body }, { account }) => {
			const { key, initial_environments, ...fields } = body;
			const project = await account.createProject(key, { ...definedFields(fields), name: fields.name });
			for (const { key: environmentKey, ...environment } of initial_environments) {
				await createEnvironment(account, project.id, environmentKey, {
					...definedFields(environment),
					name: environment.name,
				});
			}
			return reply(200, project);
		},
	}),
	endpoint({
		...methods({ tag, path: '/v2/projects/:proj_id', params: ProjectPath }).get,
		name: 'getProject',
		summary: 'Get a project',
		access: 'project.read',
		returns: { 200: ProjectRead },
		failures: { 404: 'No such project' },
		handle: (_, { project }) => reply(200, project),
	}),
	endpoint({
		...methods({ tag, path: '/v2/projects/:proj_id', params: ProjectPath }).patch,
		name: 'updateProject',
		summary: 'Update a project',
		access: 'project.write',
		body: ProjectUpdate,
		example: { name: 'Web shop' },
		returns: { 200: ProjectRead },
		failures: { 404: 'No such project' },
		handle: async ({ body }, { account, project }) =>
			reply(200, await account.updateProject(project, definedFields(body))),
	}),
	endpoint({
		...methods({ tag, path: '/v2/projects/:proj_id', params: ProjectPath }).delete,
		name: 'deleteProject',
		summary: 'Delete a project with everything in it',
		access: 'project.delete',
		requestHeaders: ConsoleConfirmation,
		returns: { 204: null },
		failures: { 404: 'No such project' },
		handle: async (_, { account, project }) => emptied(account.removeProject(project)),
	}),
];
