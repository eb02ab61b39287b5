/**
 * The AuthZEN Authorization API 1.0: what decision points are asked and what they answer. Unknown members are ignored,
 * and null counts as absent.
 */

import { z } from 'zod';
import { boundedArray, choice } from '../bounded.js';
import { tooManyMessage } from '../facts/bulk.js';
import { unchecked } from '../unchecked.js';
import { attributes } from './check.js';

/** The most evaluations of one request. */
export const maxEvaluations = 10_000;

/** The most results of one answer to a search, and as many as there are unless the request names fewer. */
export const maxResults = 1_000;

/** The longest token of a page, in characters. */
const maxTokenLength = 4_096;

/** The most characters of the message about one evaluation of many. */
const maxProblemLength = 500;

/** Attributes whose `tenant` names the tenant of the request. */
const attributesWithTenant = attributes
	.superRefine((value, ctx) => {
		const tenant = value?.['tenant'];
		if (tenant === undefined || tenant === null || typeof tenant === 'string') return;
		ctx.addIssue({ code: 'custom', path: ['tenant'], message: 'must be a string', input: tenant });
	})
	.meta({
		type: ['object', 'null'],
		additionalProperties: true,
		description: '`tenant`, a string, is the key of the tenant of the request.',
	});

const properties = attributes.describe('Attributes for conditions to compare.');
const propertiesWithTenant = attributesWithTenant.describe(
	'Attributes for conditions to compare; `tenant`, a string, is the key of the tenant of the request.',
);
const context = attributesWithTenant.describe(
	'Anything else that conditions compare; `tenant`, a string, is the key of the tenant of the request.',
);
const subjectType = z
	.string()
	.describe('The type of the subject: a user is a `user` or an `identity`, unless set otherwise.');
const resourceType = z.string().describe('The key of the resource.');

const subject = z
	.object({ type: subjectType, id: z.string().describe('The key of the user.'), properties })
	.meta({ id: 'Subject', description: 'Who wants to do something.' });
const action = z
	.object({
		name: z.string().describe('The key of the action.'),
		properties: properties.describe('Attributes for conditions to compare, as `context.action`.'),
	})
	.meta({ id: 'Action', description: 'What the subject wants to do.' });
const resource = z
	.object({ type: resourceType, id: z.string().describe('The key of the instance.'), properties: propertiesWithTenant })
	.meta({ id: 'Resource', description: 'What the subject wants to do it on.' });

/** May this subject do this action on this resource? */
export const Evaluation = z
	.object({ subject, action, resource, context })
	.meta({ id: 'Evaluation', description: 'May this subject do this action on this resource?' });

/** One evaluation, after validation. */
export type Evaluation = z.output<typeof Evaluation>;

/** When evaluations end: after all of them, after the first that denies, or after the first that permits. */
const semantics = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;

/** When evaluations end. */
export type EvaluationsSemantic = (typeof semantics)[number];

const options = z
	.object({
		evaluations_semantic: z
			.enum(semantics)
			.nullish()
			.describe('When evaluations end: after all, after the first that denies, or after the first that permits.'),
	})
	.nullish()
	.describe('How many evaluations are decided.');

/** What is wrong with a part of one evaluation of many: only that evaluation is refused. */
interface Wrong {
	readonly problem: string;
}

/** A part of an evaluation: its value, or what is wrong with it; undefined when it is absent. */
type Part<T> = { readonly value: T } | Wrong | undefined;

/** Reads a part of an evaluation without refusing the request. */
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
};

const item = z
	.object(parts)
	.meta({ id: 'EvaluationItem', description: 'One evaluation of many: what it leaves out, the request says for all.' });

/** Anything can be an item: what is no object is refused alone. */
const anyItem = unchecked(item).transform((value) => item.safeParse(value).data ?? null);

const several = z
	.object({
		...parts,
		evaluations: boundedArray(anyItem, maxEvaluations, tooManyMessage(maxEvaluations, 'evaluations')).describe(
			'The evaluations, in order.',
		),
		options,
	})
	.meta({ id: 'Evaluations', description: 'Many evaluations, with defaults for the members that they leave out.' });
const alone = z
	.object({ ...Evaluation.shape, options })
	.meta({ id: 'SingleEvaluation', description: 'One evaluation, without a list.' });

/** Evaluations with defaults for their members; without any, a single evaluation. */
export const Evaluations = choice(isAlone, alone, several);

/** Several evaluations, after validation. */
export type SeveralEvaluations = z.output<typeof several>;

function isAlone(value: unknown): boolean {
	const given = (value as { readonly evaluations?: unknown } | null | undefined)?.evaluations;
	return given === undefined || given === null || (Array.isArray(given) && given.length === 0);
}

/** One evaluation of several, with the defaults of the request for the members that it leaves out, or what is wrong. */
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
	return { subject: subject.value, action: action.value, resource: resource.value, context: context.value };
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
			.describe('`next_token` of the page before; the first page when left out.'),
		limit: z
			.int()
			.min(1)
			.nullish()
			.describe(`The most results; ${maxResults} when left out or larger. A page may have fewer.`),
	})
	.nullish()
	.describe('Which part of the results is asked for.');

/** Which subjects of the type may do the action on the resource? */
export const SubjectSearch = z
	.object({
		subject: z.object({ type: subjectType, properties }).describe('The type of the subjects to find.'),
		action,
		resource,
		context,
		page,
	})
	.meta({ id: 'SubjectSearch', description: 'Which subjects may do this action on this resource?' });

/** A search for subjects, after validation. */
export type SubjectSearch = z.output<typeof SubjectSearch>;

/** On which resources of the type may the subject do the action? */
export const ResourceSearch = z
	.object({
		subject,
		action,
		resource: z
			.object({ type: resourceType, properties: propertiesWithTenant })
			.describe('The type of the resources to find.'),
		context,
		page,
	})
	.meta({ id: 'ResourceSearch', description: 'On which resources may this subject do this action?' });

/** A search for resources, after validation. */
export type ResourceSearch = z.output<typeof ResourceSearch>;

/** Which actions may the subject do on the resource? */
export const ActionSearch = z
	.object({ subject, resource, context, page })
	.meta({ id: 'ActionSearch', description: 'Which actions may this subject do on this resource?' });

/** A search for actions, after validation. */
export type ActionSearch = z.output<typeof ActionSearch>;

/** The part of a longer answer that a search asks for. */
export type SearchPage = z.output<typeof page>;

/** The answer to one evaluation. `context` holds the reasons, when they are asked for. */
export const EvaluationResult = z
	.object({
		decision: z.boolean().describe('Whether the subject may do it.'),
		context: z
			.record(z.string(), z.unknown())
			.optional()
			.describe('The reasons, when they are asked for, as `debug` of a check; `error` where an evaluation is refused.'),
	})
	.meta({ id: 'EvaluationResult', description: 'The answer to one evaluation.' });

/** The answer to one evaluation. */
export type EvaluationResult = z.output<typeof EvaluationResult>;

/** The answers to several evaluations, in their order, or the answer to the only one. */
export const EvaluationsResult = z.union([
	z
		.object({
			evaluations: z
				.array(EvaluationResult)
				.describe('In their order. Of an evaluation that is refused, `context.error` has `status` and `message`.'),
		})
		.meta({ id: 'EvaluationResults', description: 'The answers to many evaluations.' }),
	EvaluationResult,
]);

const nextPage = z
	.object({ next_token: z.string().meta({ description: 'Empty at the end.' }) })
	.optional()
	.meta({ description: 'Absent when the request has no `page` and everything fits.' });

/** What a search for subjects or resources found, sorted by id. */
export const FoundEntities = z
	.object({
		page: nextPage,
		results: z
			.array(
				z.object({
					type: z.string().describe('The type that was asked for.'),
					id: z.string().describe('The key of the user or of the instance.'),
				}),
			)
			.describe('What was found, sorted by id.'),
	})
	.meta({
		id: 'FoundEntities',
		description: 'What a search for subjects or resources found.',
		example: { results: [{ type: 'user', id: 'ann@example.com' }] },
	});

/** What a search for actions found, sorted by name. */
export const FoundActions = z
	.object({
		page: nextPage,
		results: z
			.array(z.object({ name: z.string().describe('The key of the action.') }))
			.describe('What was found, sorted by name.'),
	})
	.meta({
		id: 'FoundActions',
		description: 'What a search for actions found.',
		example: { results: [{ name: 'read' }] },
	});

/** Where a decision point serves what. */
export const DecisionPointMetadata = z
	.object({
		policy_decision_point: z.string().describe('The address of the decision point.'),
		access_evaluation_endpoint: z.string().describe('The address of single evaluations.'),
		access_evaluations_endpoint: z.string().describe('The address of many evaluations.'),
		search_subject_endpoint: z.string().describe('The address of searches for subjects.'),
		search_resource_endpoint: z.string().describe('The address of searches for resources.'),
		search_action_endpoint: z.string().describe('The address of searches for actions.'),
		capabilities: z.array(z.string()).describe('The names of what else it does.'),
	})
	.meta({
		id: 'DecisionPointMetadata',
		description: 'Where a decision point serves what.',
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

/** Where a decision point serves what. */
export type DecisionPointMetadata = z.output<typeof DecisionPointMetadata>;

/** What is wrong with a whole request: a JSON string. */
export const ErrorMessage = z.string().meta({ id: 'ErrorMessage', description: 'What is wrong, as a JSON string.' });
