/** The part of the Cerbos API that decision points support. */

import { z } from 'zod';
import { boundedArray } from '../bounded.js';
import { named } from '../named.js';
import { unchecked } from '../unchecked.js';
import { attributes } from './check.js';

const optionalText = z.string().nullish();

/** Maximum number of actions per resource, and maximum number of resources per request. */
const maxActions = 50;
const maxResources = 500;

const principal = named('CerbosPrincipal', 'The user. Other fields are ignored.', {
	id: z.string().describe('User key.'),
	roles: z.array(z.string()).nullish().describe('Ignored: roles come from the environment.'),
	attr: attributes.describe('Attributes that conditions compare.'),
	policyVersion: optionalText.describe('Ignored.'),
});

const kind = z.string().describe('Resource key.');
const attr = attributes
	.refine((members) => !members || !Object.hasOwn(members, 'tenant') || isTenant(members['tenant']), {
		path: ['tenant'],
		error: 'must be a tenant key, or absent',
	})
	.describe('Attributes of the resource. `tenant` is the tenant key.');
const policyVersion = optionalText.describe('Ignored.');
const requestId = optionalText.describe('Returned unchanged.');
const actions = boundedArray(z.string(), maxActions);

export const PlanQuery = named('CerbosPlanQuery', 'A request for a query plan. Other fields are ignored.', {
	requestId,
	action: optionalText.describe('Action key.'),
	actions: actions.nullish().describe('Action keys. The plan selects rows on which the user may perform all of them.'),
	principal,
	resource: named('CerbosPlanResource', 'A resource type. Other fields are ignored.', {
		kind,
		attr: attr.describe(
			'Attributes that are the same for every row. `tenant` restricts the plan to rows of the tenant.',
		),
		policyVersion,
	}),
	includeMeta: z.boolean().nullish().describe('Ignored.'),
}).refine(({ action, actions: several }) => Boolean(action) || (several ?? []).length > 0, {
	path: ['actions'],
	error: 'must name an action',
});

export type PlanQuery = z.output<typeof PlanQuery>;

export const PlanAnswer = named('CerbosPlan', 'A query plan.', {
	requestId: z.string().describe('Request id, as sent.'),
	action: z.string().describe('The first action.'),
	actions: z.array(z.string()).describe('The actions.'),
	resourceKind: z.string().describe('Resource key.'),
	policyVersion: z.string().describe('Always `default`.'),
	filter: named('CerbosFilter', 'A filter for rows.', {
		kind: z
			.enum(['KIND_ALWAYS_ALLOWED', 'KIND_ALWAYS_DENIED', 'KIND_CONDITIONAL'])
			.describe('Every row, no row, or the rows that satisfy `condition`.'),
		condition: unchecked(z.unknown()).optional().describe('The condition, as a tree of expressions.'),
	}),
	cerbosCallId: z.string().describe('Decision id.'),
});

export const CerbosChecks = named('CerbosChecks', 'Checks on several resources. Other fields are ignored.', {
	requestId,
	principal,
	resources: boundedArray(
		z.object({
			resource: z
				.object({ kind, id: z.string().describe('Instance key.'), attr, policyVersion })
				.meta({ description: 'An instance.' }),
			actions: actions.describe('Action keys.'),
		}),
		maxResources,
	).describe('Resources and the actions to check.'),
});

export type CerbosChecks = z.output<typeof CerbosChecks>;

export const CerbosResults = named('CerbosResults', 'Results of checks.', {
	requestId: z.string().describe('Request id, as sent.'),
	results: unchecked(z.array(z.unknown())).describe('For each resource, `resource` and the effects by action.'),
	cerbosCallId: z.string().describe('Decision id.'),
});

export const CerbosServer = named('CerbosServer', 'The server.', {
	version: z.string().describe('Decision point version.'),
	commit: z.string().describe('Always empty.'),
	buildDate: z.string().describe('Always empty.'),
});

export const CerbosFailure = named('CerbosFailure', 'A failure, in the format of Cerbos.', {
	code: z.int().describe('Status code, as in gRPC.'),
	message: z.string().describe('The problem.'),
});

function isTenant(value: unknown): boolean {
	return typeof value === 'string' && value !== '';
}
