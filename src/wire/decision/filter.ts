/** Data filters: requests to decision points, and their responses. */

import { z } from 'zod';
import { everyone } from '../../../compiler/everyone.js';
import { named } from '../named.js';
import { unchecked } from '../unchecked.js';
import { Query, subject } from './check.js';
import { noContextualFacts } from './contextual-facts.js';

/** Default and maximum number of keys in a filter, including tenant keys. */
export const usualKeys = 5_000;
export const mostKeys = 50_000;

/** Maximum page token length, in characters. */
const maxTokenLength = 4_096;

/** Kind of a logged decision. A filter is logged with its type as the code. */
export type DecisionKind = 'check' | 'filter';

const FilterType = z.enum(['always_allow', 'always_deny', 'conditional']);

export type FilterType = z.output<typeof FilterType>;

const { action, resource, context } = Query.shape;

const unkeyed = resource.superRefine((value, ctx) => {
	if (value.tenant === '') {
		// A check treats an empty tenant as `default`. A filter must not treat it as absent and cover every tenant.
		const message = 'must be a tenant key, or absent for the rows of every tenant';
		ctx.addIssue({ code: 'custom', path: ['tenant'], message, input: value.tenant });
	}
	if (!value.key) return;
	const message = 'must be absent, because a filter covers all instances: for a single instance, use /allowed';
	ctx.addIssue({ code: 'custom', path: ['key'], message, input: value.key });
});

const question = {
	user: subject,
	action,
	resource: unkeyed.meta({
		description:
			'The resource type: its key, or an object. `tenant` restricts the filter to rows of the tenant; ' +
			'without it, the filter covers the rows of every tenant. `attributes` contains values that are the ' +
			'same for every row, so the filter does not compare them.',
		example: { type: 'document' },
	}),
	context,
	contextual_facts: noContextualFacts,
};

/** A check without a resource key. */
export const FilterQuery = named(
	'FilterQuery',
	'A check without a resource key, to find the rows on which the user may perform the action. Unknown fields are ignored.',
	{
		...question,
		max_keys: z
			.int()
			.min(1)
			.max(mostKeys)
			.nullish()
			.describe(
				`Maximum number of instance and tenant keys in the filter: ${usualKeys} by default, at most ${mostKeys}. A ` +
					'filter with more keys is rejected with the problem type `filter_too_large`.',
			),
	},
);

export type FilterQuery = z.output<typeof FilterQuery>;

export const FilterKeysQuery = named('FilterKeysQuery', 'A page of the keys that belong to a filter.', {
	...question,
	limit: z
		.int()
		.min(1)
		.max(mostKeys)
		.nullish()
		.describe(`Maximum number of keys in the page: ${usualKeys} by default, at most ${mostKeys}.`),
	cursor: z
		.string()
		.max(maxTokenLength)
		.nullish()
		.describe('`next` of the previous page. All other fields must be the same as for that page.'),
});

export type FilterKeysQuery = z.output<typeof FilterKeysQuery>;

const Column = z
	.object({
		kind: z.enum(['key', 'tenant', 'attribute']).describe("The resource's key, its tenant, or one of its attributes."),
		path: z.array(z.string()).optional().describe('For an attribute: its name, then field names inside its value.'),
		type: z.string().optional().describe('Declared attribute type, if known.'),
	})
	.meta({ id: 'FilterColumn', description: 'A column of the rows.' });

const Operand = z
	.object({
		value: z.unknown().optional().describe('A literal; null is a missing value.'),
		column: Column.optional().describe('A column.'),
		match: z.unknown().optional().describe('A condition on the fields of an object, or of each array item.'),
	})
	.meta({ id: 'FilterOperand', description: 'Right side of a comparison: exactly one of the fields.' });

const Condition: z.ZodType = z
	.object({
		kind: z
			.enum(['all', 'any', 'not', 'comparison', 'mistyped'])
			.describe(
				'`all` and `any` join `parts`, `not` negates `part`. A `comparison` is true if the values satisfy the operator, ' +
					'and false for a missing or mistyped value. `mistyped` is true if the values cannot be compared.',
			),
		parts: z
			.array(z.lazy(() => Condition))
			.optional()
			.describe('Parts of `all` or `any`.'),
		part: z
			.lazy(() => Condition)
			.optional()
			.describe('Part of `not`.'),
		column: Column.optional().describe('Left side of a comparison.'),
		operator: z.string().optional().describe('Condition operator, such as `equals` or `in`.'),
		operand: Operand.optional().describe('Right side of a comparison.'),
		reversed: z
			.literal(true)
			.optional()
			.describe('Present if the operand is on the left side of the operator, and the column on its right side.'),
		now: z
			.number()
			.optional()
			.describe('Check time in milliseconds since 1970, for an operator with a duration before this time.'),
		name: z.string().optional().describe('Condition set key, or `roles` for a comparison that comes from roles.'),
	})
	.meta({
		id: 'FilterCondition',
		description: 'A condition on a row. All parts are true or false, never unknown.',
		example: {
			kind: 'comparison',
			column: { kind: 'tenant' },
			operator: 'equals',
			operand: { value: 'acme' },
			name: 'roles',
		},
	});

const Branch = named('FilterBranch', 'Rows selected by a grant.', {
	model: z.enum(['rbac', 'rebac', 'abac']).describe('Tenant roles, roles on instances, or condition sets.'),
	reason: z.string().describe('The grant, as a sentence.'),
	allowing_role: z.string().optional().describe('Key of the tenant role, or `<type>#<key>` for a role on instances.'),
	sources: z
		.array(
			named('FilterRoleSource', 'Direct source of a role on instances.', {
				type: z
					.enum(['role_assignment', 'role_derivation', 'computed_role'])
					.describe('An assignment on the instance, a derivation, or a role in the expression of a computed role.'),
				user: z.literal(everyone).optional().describe('Present for a role assigned to everyone.'),
				role: z.string().optional().describe('Role on the related instance or in the expression, as `<type>#<key>`.'),
				relation: z.string().optional().describe('Relation to the related instance.'),
			}),
		)
		.optional()
		.describe('How users hold the role on the instances.'),
	allowing_rule: z
		.record(z.string(), z.string())
		.optional()
		.describe("The rule's `userset` or `role`, and its `resourceset` or `resource_type`."),
	condition: Condition.describe('The rows.'),
});

const validUntil = z.iso
	.datetime()
	.nullable()
	.describe(
		'Time at which an expiry may change the filter, in UTC; null if no fact expires. Request the filter again at ' +
			'this time.',
	);
const revision = z.int().describe('Environment revision for the response.');

export const FilterAnswer = named('FilterAnswer', 'A filter for rows.', {
	type: FilterType.describe('Every row, no row, or the rows that satisfy `condition`.'),
	condition: unchecked(Condition).optional().describe('The condition; present if the type is `conditional`.'),
	revision,
	valid_until: validUntil,
	debug: unchecked(
		named('FilterReasons', 'Origin of a filter.', {
			code: z.string().optional().describe('Denial code; present if the type is `always_deny`.'),
			branches: z.array(Branch).describe('The rows selected by each grant, before the filter was simplified.'),
		}),
	)
		.optional()
		.describe('Origin of the filter, if requested with `X-Debug: true`.'),
});

const FilterKey = named('FilterKey', 'A row granted by a role on its instance.', {
	tenant: z.string().describe('Tenant key.'),
	key: z.string().describe('Instance key.'),
});

export const FilterKeys = named(
	'FilterKeys',
	'A page of keys. A row satisfies the filter if it satisfies `rest`, or if its tenant and key are on one of the pages.',
	{
		rest: named('FilterRest', 'The filter without keys of instances.', {
			type: FilterType.describe('Every row, no row, or the rows that satisfy `condition`.'),
			condition: unchecked(Condition).optional().describe('The condition; present if the type is `conditional`.'),
		}),
		keys: unchecked(z.array(FilterKey)).describe('Keys, sorted by code unit.'),
		next: z.string().nullable().describe('Cursor for the next page; null on the last page.'),
		revision,
		valid_until: validUntil,
	},
);

/** Response in the format of `permit-datafilter`. */
export const PermitFilter = named('PermitFilter', 'A filter in the format of the plugin `permit-datafilter`.', {
	type: FilterType.describe('Every row, no row, or the rows that satisfy `condition`.'),
	condition: unchecked(
		z.looseObject({
			expression: z.unknown().describe('Operator with its operands: expressions, variables and values.'),
		}),
	)
		.optional()
		.describe('The condition as an expression; present if the type is `conditional`.'),
});
