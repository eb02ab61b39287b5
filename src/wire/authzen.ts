/**
 * The AuthZEN Authorization API 1.0: what decision points are asked and what they answer. Unknown members are ignored,
 * and null counts as absent.
 */

import { z } from 'zod';
import { boundedArray, choice } from './bounded.js';
import { tooManyMessage } from './bulk.js';
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
		description: '`tenant`, a string, is the key of the tenant of the request.',
	});

const subject = z.object({ type: z.string(), id: z.string(), properties: attributes });
const action = z.object({ name: z.string(), properties: attributes });
const resource = z.object({ type: z.string(), id: z.string(), properties: attributesWithTenant });

/** May this subject do this action on this resource? */
export const Evaluation = z.object({ subject, action, resource, context: attributesWithTenant });

/** One evaluation, after validation. */
export type Evaluation = z.output<typeof Evaluation>;

/** When evaluations end: after all of them, after the first that denies, or after the first that permits. */
const semantics = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;

/** When evaluations end. */
export type EvaluationsSemantic = (typeof semantics)[number];

const options = z.object({ evaluations_semantic: z.enum(semantics).nullish() }).nullish();

/** What is wrong with a part of one evaluation of many: only that evaluation is refused. */
interface Wrong {
	readonly problem: string;
}

/** A part of an evaluation: its value, or what is wrong with it; undefined when it is absent. */
type Part<T> = { readonly value: T } | Wrong | undefined;

/** Reads a part of an evaluation without refusing the request. */
function lenientPart<S extends z.ZodType>(name: string, schema: S) {
	return z
		.unknown()
		.transform((value): Part<z.output<S>> => {
			if (value === undefined || value === null) return undefined;
			const parsed = schema.safeParse(value, { reportInput: true });
			return parsed.success ? { value: parsed.data } : { problem: firstProblem(name, parsed.error.issues) };
		})
		.meta(described(schema))
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
	context: lenientPart('context', attributesWithTenant),
};

const item = z.object(parts);

/** Anything can be an item: what is no object is refused alone. */
const anyItem = z
	.unknown()
	.transform((value) => item.safeParse(value).data ?? null)
	.meta(described(item));

const several = z.object({
	...parts,
	evaluations: boundedArray(anyItem, maxEvaluations, tooManyMessage(maxEvaluations, 'evaluations')),
	options,
});
const alone = z.object({ ...Evaluation.shape, options });

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
		/** `next_token` of the page before. */
		token: z.string().max(maxTokenLength).nullish(),
		/** The most results; a page may have fewer. */
		limit: z.int().min(1).nullish(),
	})
	.nullish();

/** Which subjects of the type may do the action on the resource? */
export const SubjectSearch = z.object({
	subject: z.object({ type: z.string(), properties: attributes }),
	action,
	resource,
	context: attributesWithTenant,
	page,
});

/** A search for subjects, after validation. */
export type SubjectSearch = z.output<typeof SubjectSearch>;

/** On which resources of the type may the subject do the action? */
export const ResourceSearch = z.object({
	subject,
	action,
	resource: z.object({ type: z.string(), properties: attributesWithTenant }),
	context: attributesWithTenant,
	page,
});

/** A search for resources, after validation. */
export type ResourceSearch = z.output<typeof ResourceSearch>;

/** Which actions may the subject do on the resource? */
export const ActionSearch = z.object({ subject, resource, context: attributesWithTenant, page });

/** A search for actions, after validation. */
export type ActionSearch = z.output<typeof ActionSearch>;

/** The part of a longer answer that a search asks for. */
export type SearchPage = z.output<typeof page>;

/** The answer to one evaluation. `context` holds the reasons, when they are asked for. */
export const EvaluationResult = z.object({
	decision: z.boolean(),
	context: z.record(z.string(), z.unknown()).optional(),
});

/** The answer to one evaluation. */
export type EvaluationResult = z.output<typeof EvaluationResult>;

/** The answers to several evaluations, in their order, or the answer to the only one. */
export const EvaluationsResult = z.union([
	z.object({
		/** Of an evaluation that is refused, `context.error` has `status` and `message`. */
		evaluations: z.array(EvaluationResult),
	}),
	EvaluationResult,
]);

const nextPage = z
	.object({ next_token: z.string().meta({ description: 'Empty at the end.' }) })
	.optional()
	.meta({ description: 'Absent when the request has no `page` and everything fits.' });

/** What a search for subjects or resources found, sorted by id. */
export const FoundEntities = z.object({
	results: z.array(z.object({ type: z.string(), id: z.string() })),
	page: nextPage,
});

/** What a search for actions found, sorted by name. */
export const FoundActions = z.object({ results: z.array(z.object({ name: z.string() })), page: nextPage });

/** Where a decision point serves what. */
export const DecisionPointMetadata = z.object({
	policy_decision_point: z.string(),
	access_evaluation_endpoint: z.string(),
	access_evaluations_endpoint: z.string(),
	search_subject_endpoint: z.string(),
	search_resource_endpoint: z.string(),
	search_action_endpoint: z.string(),
	capabilities: z.array(z.string()),
});

/** Where a decision point serves what. */
export type DecisionPointMetadata = z.output<typeof DecisionPointMetadata>;

/** What is wrong with a whole request: a JSON string. */
export const ErrorMessage = z.string().meta({ id: 'ErrorMessage' });

/** What a schema says of a request, for the documentation of one that lets everything pass. */
function described(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
	const { $schema: _, ...said } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
	return said;
}
