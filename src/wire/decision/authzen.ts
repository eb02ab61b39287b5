/**
 * The AuthZEN Authorization API 1.0: requests to decision points, and their responses. Unknown fields are ignored, and
 * null is treated as absent.
 */

import { z } from 'zod';
import { boundedArray, choice } from '../bounded.js';
import { tooManyMessage } from '../facts/bulk.js';
import { named } from '../named.js';
import { unchecked } from '../unchecked.js';
import { attributes } from './check.js';
import { ContextualFacts, noContextualFacts } from './contextual-facts.js';

/** Maximum number of evaluations per request. */
export const maxEvaluations = 10_000;

/** Maximum number of results per search page. It is also the default. */
export const maxResults = 1_000;

/** Maximum page token length, in characters. */
const maxTokenLength = 4_096;

/** Maximum message length for a problem with one evaluation in a list, in characters. */
const maxProblemLength = 500;

/** Attributes in which `tenant` names the request's tenant. */
const attributesWithTenant = attributes
	.superRefine((value, ctx) => {
		const tenant = value?.['tenant'];
		if (tenant === undefined || tenant === null || typeof tenant === 'string') return;
		ctx.addIssue({ code: 'custom', path: ['tenant'], message: 'must be a string', input: tenant });
	})
	.meta({
		type: ['object', 'null'],
		additionalProperties: true,
		description: '`tenant`, a string, is the tenant key for the request.',
	});

const properties = attributes.describe('Attributes for conditions to compare.');
const propertiesWithTenant = attributesWithTenant.describe(
	'Attributes for conditions to compare; `tenant`, a string, is the tenant key for the request.',
);
const context = attributesWithTenant.describe(
	'Other data for conditions to compare; `tenant`, a string, is the tenant key for the request.',
);
const contextual_facts = ContextualFacts.nullish().describe(
	'Facts for this evaluation, which are not stored. 403 unless the environment setting `contextual_facts` is true.',
);
const subjectType = z
	.string()
	.describe(
		'Subject type: `user` or `identity` for users, unless configured otherwise; a resource key for sets of users.',
	);
const resourceType = z.string().describe('Resource key.');

const subject = named('Subject', 'The requesting subject.', {
	type: subjectType,
	id: z.string().describe('User key; `<instance key>#<role key>` for a set of users.'),
	properties,
});
const action = named('Action', 'The action to perform.', {
	name: z.string().describe('Action key.'),
	properties: properties.describe('Attributes for conditions to compare, as `context.action`.'),
});
const resource = named('Resource', 'The resource to act on.', {
	type: resourceType,
	id: z.string().describe('Instance key.'),
	properties: propertiesWithTenant,
});

export const Evaluation = named('Evaluation', 'May this subject perform this action on this resource?', {
	subject,
	action,
	resource,
	context,
	contextual_facts,
});

/** A validated evaluation. */
export type Evaluation = z.output<typeof Evaluation>;

/** Condition for stopping early: never, after the first denial, or after the first permit. */
const semantics = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;

export type EvaluationsSemantic = (typeof semantics)[number];

const options = z
	.object({
		evaluations_semantic: z
			.enum(semantics)
			.nullish()
			.describe('When evaluation stops: after all evaluations, the first denial, or the first permit.'),
	})
	.nullish()
	.describe('Evaluation options.');

/** Problem with one evaluation in a list. Only that evaluation is rejected. */
interface Wrong {
	readonly problem: string;
}

/** Field of an evaluation: its value, or the problem with it. `undefined` if it is absent. */
type Part<T> = { readonly value: T } | Wrong | undefined;

/** Reads a field of an evaluation. A problem with the field does not reject the whole request. */
function lenientPart<S extends z.ZodType>(name: string, schema: S) {
	return unchecked(schema)
		.transform((value): Part<z.output<S>> => {
			if (value === undefined || value === null) return undefined;
			const parsed = schema.safeParse(value, { reportInput: true });
			return parsed.success ? { value: parsed.data } : { problem: firstProblem(name, parsed.error.issues) };
		})
		.optional();
}

function firstProblem(name: string, [issue]: readonly z.core.$ZodIssue[]): string {
	const missing = issue?.code === 'invalid_type' && issue.input === undefined;
	const message = missing ? 'field required' : issue?.message;
	return `${[name, ...(issue?.path ?? []).map(String)].join('.')}: ${message}`.slice(0, maxProblemLength);
}

const parts = {
	subject: lenientPart('subject', subject),
	action: lenientPart('action', action),
	resource: lenientPart('resource', resource),
	context: lenientPart('context', context),
	contextual_facts: lenientPart('contextual_facts', contextual_facts),
};

const item = named('EvaluationItem', 'One evaluation in a list. Omitted fields come from the request.', parts);

/** Accepts any item. An item that is not an object fails only its own evaluation. */
const anyItem = unchecked(item).transform((value) => item.safeParse(value).data ?? null);

const several = named('Evaluations', 'Multiple evaluations, with defaults for omitted fields.', {
	...parts,
	evaluations: boundedArray(anyItem, maxEvaluations, tooManyMessage(maxEvaluations, 'evaluations')).describe(
		'Evaluations, in order.',
	),
	options,
});
const alone = named('SingleEvaluation', 'One evaluation, without a list.', { ...Evaluation.shape, options });

/** Evaluations, with defaults for their fields. A request without a list is a single evaluation. */
export const Evaluations = choice(isAlone, alone, several);

/** Validated evaluations. */
export type SeveralEvaluations = z.output<typeof several>;

function isAlone(value: unknown): boolean {
	const given = (value as { readonly evaluations?: unknown } | null | undefined)?.evaluations;
	return given === undefined || given === null || (Array.isArray(given) && given.length === 0);
}

/**
 * Returns an evaluation from the list, completed with the request's defaults. Returns the problem if the evaluation has
 * one.
 */
export function evaluationAt(request: SeveralEvaluations, index: number): Evaluation | Wrong {
	const own = request.evaluations[index] ?? null;
	if (own === null) return { problem: 'the evaluation must be an object' };
	const subject = required('subject', own.subject ?? request.subject);
	if ('problem' in subject) return subject;
	const action = required('action', own.action ?? request.action);
	if ('problem' in action) return action;
	const resource = required('resource', own.resource ?? request.resource);
	if ('problem' in resource) return resource;
	const context = own.context ?? request.context ?? { value: undefined };
	if ('problem' in context) return context;
	const facts = own.contextual_facts ?? request.contextual_facts ?? { value: undefined };
	if ('problem' in facts) return facts;
	const asked = { subject: subject.value, action: action.value, resource: resource.value };
	return { ...asked, context: context.value, contextual_facts: facts.value };
}

function required<T>(name: string, part: Part<T>): { readonly value: T } | Wrong {
	return part ?? { problem: `${name}: field required` };
}

const page = z
	.object({
		token: z
			.string()
			.max(maxTokenLength)
			.nullish()
			.describe('`next_token` from the previous page; omit for the first page.'),
		limit: z
			.int()
			.min(1)
			.nullish()
			.describe(`Maximum number of results; ${maxResults} if omitted or larger. A page may have fewer.`),
	})
	.nullish()
	.describe('Requested page.');

/** Search: which subjects of this type may perform the action on the resource? */
export const SubjectSearch = named('SubjectSearch', 'Which subjects may perform this action on this resource?', {
	subject: z.object({ type: subjectType, properties }).describe('Subject type to find.'),
	action,
	resource,
	context,
	contextual_facts: noContextualFacts,
	page,
});

export type SubjectSearch = z.output<typeof SubjectSearch>;

/** Search: on which resources of this type may the subject perform the action? */
export const ResourceSearch = named('ResourceSearch', 'On which resources may this subject perform this action?', {
	subject,
	action,
	resource: z.object({ type: resourceType, properties: propertiesWithTenant }).describe('Resource type to find.'),
	context,
	contextual_facts,
	page,
});

export type ResourceSearch = z.output<typeof ResourceSearch>;

/** Search: which actions may the subject perform on the resource? */
export const ActionSearch = named('ActionSearch', 'Which actions may this subject perform on this resource?', {
	subject,
	resource,
	context,
	contextual_facts,
	page,
});

export type ActionSearch = z.output<typeof ActionSearch>;

/** The page that a search requests. */
export type SearchPage = z.output<typeof page>;

/** Evaluation result. `context` contains the reasons, if requested. */
export const EvaluationResult = named('EvaluationResult', 'Evaluation result.', {
	decision: z.boolean().describe('True if the subject may perform the action.'),
	context: z
		.record(z.string(), z.unknown())
		.optional()
		.describe('Requested reasons, as in the `debug` field for a check; `error` if the evaluation is rejected.'),
});

export type EvaluationResult = z.output<typeof EvaluationResult>;

/** Results for several evaluations in their order, or the result for a single evaluation. */
export const EvaluationsResult = z.union([
	named('EvaluationResults', 'Results for multiple evaluations.', {
		evaluations: z
			.array(EvaluationResult)
			.describe('Results, in order. For a rejected evaluation, `context.error` has `status` and `message`.'),
	}),
	EvaluationResult,
]);

const nextPage = z
	.object({ next_token: z.string().meta({ description: 'Empty on the last page.' }) })
	.optional()
	.meta({ description: 'Absent if the request has no `page` and all results fit.' });

/** Subjects or resources found by a search, sorted by id. */
export const FoundEntities = z
	.object({
		page: nextPage,
		results: z
			.array(
				z.object({
					type: z.string().describe('The requested type.'),
					id: z.string().describe('User key or instance key.'),
				}),
			)
			.describe('Results, sorted by id.'),
	})
	.meta({
		id: 'FoundEntities',
		description: 'Subjects or resources found by a search.',
		example: { results: [{ type: 'user', id: 'ann@example.com' }] },
	});

/** Actions found by a search, sorted by name. */
export const FoundActions = z
	.object({
		page: nextPage,
		results: z.array(z.object({ name: z.string().describe('Action key.') })).describe('Results, sorted by name.'),
	})
	.meta({ id: 'FoundActions', description: 'Actions found by a search.', example: { results: [{ name: 'read' }] } });

export const DecisionPointMetadata = z
	.object({
		policy_decision_point: z.string().describe('Decision point URL.'),
		access_evaluation_endpoint: z.string().describe('URL for single evaluations.'),
		access_evaluations_endpoint: z.string().describe('URL for multiple evaluations.'),
		search_subject_endpoint: z.string().describe('URL for subject searches.'),
		search_resource_endpoint: z.string().describe('URL for resource searches.'),
		search_action_endpoint: z.string().describe('URL for action searches.'),
		capabilities: z.array(z.string()).describe('Additional capability names.'),
	})
	.meta({
		id: 'DecisionPointMetadata',
		description: 'Decision point endpoints and capabilities.',
		example: {
			policy_decision_point: 'https://pdp.example.com',
			access_evaluation_endpoint: 'https://pdp.example.com/access/v1/evaluation',
			access_evaluations_endpoint: 'https://pdp.example.com/access/v1/evaluations',
			search_subject_endpoint: 'https://pdp.example.com/access/v1/search/subject',
			search_resource_endpoint: 'https://pdp.example.com/access/v1/search/resource',
			search_action_endpoint: 'https://pdp.example.com/access/v1/search/action',
			capabilities: ['urn:ietf:params:authzen:capability:search-pagination'],
		},
	});

/** Decision point endpoints and capabilities. */
export type DecisionPointMetadata = z.output<typeof DecisionPointMetadata>;

/** Error message for a whole request, as a JSON string. */
export const ErrorMessage = z.string().meta({ id: 'ErrorMessage', description: 'Error message, as a JSON string.' });
