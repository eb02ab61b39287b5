/** Change impact: the checks whose result differs before and after the change. */

import { z } from 'zod';
import { defaulted, optional } from '../common.js';
import { Query, user } from '../decision/check.js';
import { noContextualFacts } from '../decision/contextual-facts.js';
import { named, namedStrict } from '../named.js';
import { Draft } from './draft.js';

const optionalKey = (description: string) => z.string().optional().describe(description);

export const ImpactCause = named('ImpactCause', 'Grant source: a role, or a condition set rule.', {
	by: z.enum(['role_in_tenant', 'role_on_instance', 'set_rule']).describe('Grant kind.'),
	role: optionalKey(
		'Role key for a tenant role; `<type>#<role>` for a role on an instance. In a rule, instead of `userset`: ' +
			'all holders of the role in the tenant.',
	),
	userset: optionalKey('User set key of a rule.'),
	resourceset: optionalKey('Resource set key of a rule.'),
	resource_type: optionalKey('Instead of `resourceset`: all objects of the resource type.'),
});
export type ImpactCause = z.output<typeof ImpactCause>;

/** Check result in one state, before or after the change. */
export const ImpactSide = named('ImpactSide', 'Check result before or after the change.', {
	allow: z.boolean().describe('True if allowed.'),
	code: z.string().meta({
		description: '`allow`, or the denial code: docs/develop/denial-codes.md explains each code.',
		example: 'no_permission',
	}),
	reason: z.string().describe('The code as a sentence about this check.'),
	by: z.array(ImpactCause).describe('Grant sources; empty if nothing grants the action.'),
});
export type ImpactSide = z.output<typeof ImpactSide>;

export const ImpactRow = named('ImpactRow', 'A check whose result differs before and after the change.', {
	user: z.string().describe('User key.'),
	action: z.string().describe('Action key.'),
	resource: z
		.object({
			type: z.string().describe('Resource key.'),
			key: z.string().nullable().describe('Instance key; null for the resource type alone.'),
		})
		.describe('The resource or instance.'),
	tenant: z.string().describe('Tenant key in the check.'),
	before: ImpactSide,
	after: ImpactSide,
});
export type ImpactRow = z.output<typeof ImpactRow>;

const count = z.int().min(0);

export const ImpactCauseCount = ImpactCause.extend({
	gained: count.describe('Checks granted by this cause after the change and denied before.'),
	lost: count.describe('Checks granted by this cause before the change and denied after it.'),
}).meta({ id: 'ImpactCauseCount', description: 'Number of checks gained and lost through one cause.' });
export type ImpactCauseCount = z.output<typeof ImpactCauseCount>;

/** A logged decision whose result differs. */
export const LoggedDecisionRow = ImpactRow.extend({
	id: z.string().describe('Logged decision id.'),
	timestamp: z.string().describe('Original decision time: ISO 8601.'),
	logged: z.string().nullable().describe('Logged code; null if the log has none.'),
}).meta({ id: 'LoggedDecisionRow', description: 'A logged decision whose result the change alters.' });
export type LoggedDecisionRow = z.output<typeof LoggedDecisionRow>;

/** Maximum numbers of evaluated checks, listed rows, and replayed decisions. */
export const maxImpactChecks = 1_000_000;
export const maxImpactRows = 1_000;
export const maxImpactDecisions = 1_000;

const limit = (most: number, usual: number, description: string) =>
	z.int().min(0).max(most).default(usual).describe(description);

export const ImpactLimits = namedStrict('ImpactLimits', 'Limits on the response size and cost.', {
	checks: limit(maxImpactChecks, 200_000, 'Maximum number of checks to evaluate, before and after the change.'),
	rows: limit(maxImpactRows, 200, 'Maximum number of rows to list for gains, losses and decisions each.'),
	decisions: limit(maxImpactDecisions, maxImpactDecisions, 'Number of newest logged decisions to replay.'),
});
export type ImpactLimits = z.output<typeof ImpactLimits>;

export const ImpactRequest = namedStrict('ImpactRequest', 'A draft impact request.', {
	draft: Draft.describe('Changes to evaluate.'),
	limits: defaulted(ImpactLimits, () => ImpactLimits.parse({})).describe('Limits on the response size and cost.'),
});

/** Checks that were gained and lost. */
export const Impact = named('Impact', 'Checks gained and lost through a draft.', {
	base_revision: count.describe('Newest environment revision, used to evaluate the draft.'),
	gains: z.array(ImpactRow).describe('Checks allowed only with the draft, at most `limits.rows`.'),
	loses: z.array(ImpactRow).describe('Checks allowed only without the draft, at most `limits.rows`.'),
	counts: z
		.object({
			gained: count.describe('Checks allowed only with the draft.'),
			lost: count.describe('Checks allowed only without the draft.'),
			asked: count.describe('Evaluated checks: checks possibly affected by the draft.'),
			by_cause: z
				.array(ImpactCauseCount)
				.describe('Counts by cause, largest first. A check with several causes counts for the first.'),
		})
		.describe('Totals, listed or not. Lower bounds if `truncated`.'),
	truncated: z
		.boolean()
		.describe(
			'True if checks were skipped, because there are more than `limits.checks` or the time limit was reached.',
		),
	decisions: z
		.object({
			replayed: count.describe('Logged decisions replayed.'),
			skipped: count.describe('Decisions skipped, because their input is not in the log.'),
			gained: count.describe('Replayed decisions allowed only with the draft.'),
			lost: count.describe('Replayed decisions allowed only without the draft.'),
			rows: z.array(LoggedDecisionRow).describe('Decisions with a different result, newest first.'),
			truncated: z.boolean().describe('True if the time limit stopped the replay.'),
		})
		.describe(
			'The newest logged decisions, replayed with the facts at `base_revision`, without ' +
				'and with the draft, at the request time. Masked attributes are missing.',
		),
	left_out: z
		.array(
			z.object({
				object: z.string().describe('Display name, such as "user set `adults`".'),
				message: z.string().describe('Message from the compiler or OPA.'),
			}),
		)
		.describe('Objects excluded from the policy, because the schema does not compile with them.'),
});
export type Impact = z.input<typeof Impact>;

/** Maximum number of changes between the explained revision and the newest revision. */
export const maxChangesSince = 5_000;

export const ExplanationRequest = named('ExplanationRequest', 'A check, and the revision to explain it at.', {
	...Query.omit({ use_debugger: true, sdk: true }).shape,
	user,
	contextual_facts: noContextualFacts,
	revision: z.int().min(0).describe('Environment revision with the policy and facts to use.'),
	token: optional(z.string().max(64)).describe(
		'Revision token, as in `custom` in decision log events. 410 if this revision number ' +
			'now belongs to a different revision, because revisions were lost.',
	),
	at: optional(z.iso.datetime({ offset: true, error: 'must be a time such as 2026-01-31T08:00:00Z' })).describe(
		'Decision time, ISO 8601 with a zone; grants that expire before it are ignored. Defaults to now.',
	),
});

export type ExplanationRequest = z.output<typeof ExplanationRequest>;

export const WrittenTest = named('WrittenTest', 'A check as a test for `opa test`.', {
	text: z.string().describe('Rego file with the test and its facts. Save it with a name ending in `_test.rego`.'),
});
