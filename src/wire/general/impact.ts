/** Who gains and who loses by a change: checks that come out differently before and after it. */

import { z } from 'zod';
import { defaulted, optional } from '../common.js';
import { Query } from '../decision/check.js';
import { Draft } from './draft.js';

const optionalKey = (description: string) => z.string().optional().describe(description);

/** What grants an action: a role, or a rule between condition sets. */
export const ImpactCause = z
	.object({
		by: z.enum(['role_in_tenant', 'role_on_instance', 'set_rule']).describe('What kind of thing grants the action.'),
		role: optionalKey(
			'The key of the role in the tenant; of a role on an instance `<type>#<role>`. Of a rule: in place of `userset`, ' +
				'all who hold the role in the tenant.',
		),
		userset: optionalKey('The key of the user set of a rule.'),
		resourceset: optionalKey('The key of the resource set of a rule.'),
		resource_type: optionalKey('In place of `resourceset`: everything of the resource type.'),
	})
	.meta({ id: 'ImpactCause', description: 'What grants an action: a role, or a rule between condition sets.' });
export type ImpactCause = z.output<typeof ImpactCause>;

/** How one check comes out in one state. */
export const ImpactSide = z
	.object({
		allow: z.boolean().describe('Whether it is allowed.'),
		code: z.string().meta({
			description: '`allow`, or why it is not: docs/denial-codes.md explains each.',
			example: 'no_permission',
		}),
		reason: z.string().describe('The same as a sentence about this check.'),
		by: z.array(ImpactCause).describe('What grants the action; empty where nothing does.'),
	})
	.meta({ id: 'ImpactSide', description: 'How one check comes out before or after the change.' });
export type ImpactSide = z.output<typeof ImpactSide>;

/** One check that comes out differently. */
export const ImpactRow = z
	.object({
		user: z.string().describe('The key of the user.'),
		action: z.string().describe('The key of the action.'),
		resource: z
			.object({
				type: z.string().describe('The key of the resource.'),
				key: z.string().nullable().describe('The key of the instance; null for the resource without one.'),
			})
			.describe('The resource or instance.'),
		tenant: z.string().describe('The key of the tenant of the check.'),
		before: ImpactSide,
		after: ImpactSide,
	})
	.meta({ id: 'ImpactRow', description: 'One check that comes out differently before and after the change.' });
export type ImpactRow = z.output<typeof ImpactRow>;

const count = z.int().min(0);

/** How many checks one cause has gained and lost. */
export const ImpactCauseCount = ImpactCause.extend({
	gained: count.describe('Checks that this grants after the change and that were denied before.'),
	lost: count.describe('Checks that this granted before the change and that are denied after it.'),
}).meta({ id: 'ImpactCauseCount', description: 'How many checks are gained and lost by one cause.' });
export type ImpactCauseCount = z.output<typeof ImpactCauseCount>;

/** A logged decision that comes out differently. */
export const LoggedDecisionRow = ImpactRow.extend({
	id: z.string().describe('The id of the logged decision.'),
	timestamp: z.string().describe('When it was decided first: ISO 8601.'),
	logged: z.string().nullable().describe('The code that was logged then; null where the log does not say.'),
}).meta({ id: 'LoggedDecisionRow', description: 'A logged decision that comes out differently by the change.' });
export type LoggedDecisionRow = z.output<typeof LoggedDecisionRow>;

/** The most checks that are asked, rows that are listed, and decisions that are decided again. */
export const maxImpactChecks = 1_000_000;
export const maxImpactRows = 1_000;
export const maxImpactDecisions = 1_000;

const limit = (most: number, usual: number, description: string) =>
	z.int().min(0).max(most).default(usual).describe(description);

/** What the answer may cost. */
export const ImpactLimits = z
	.strictObject({
		checks: limit(maxImpactChecks, 200_000, 'How many checks are asked at most, before and after the change.'),
		rows: limit(maxImpactRows, 200, 'How many rows are listed at most, of gains, losses and decisions each.'),
		decisions: limit(
			maxImpactDecisions,
			maxImpactDecisions,
			'How many of the newest logged decisions are decided again.',
		),
	})
	.meta({ id: 'ImpactLimits', description: 'What the answer may cost.' });
export type ImpactLimits = z.output<typeof ImpactLimits>;

/** Asks who gains and who loses by a draft. */
export const ImpactRequest = z
	.strictObject({
		draft: Draft.describe('The changes that are not made yet.'),
		limits: defaulted(ImpactLimits, () => ImpactLimits.parse({})).describe('What the answer may cost.'),
	})
	.meta({ id: 'ImpactRequest', description: 'Asks who gains and who loses by a draft.' });
export type ImpactRequest = z.output<typeof ImpactRequest>;

/** Who gains and who loses. */
export const Impact = z
	.object({
		base_revision: count.describe('The revision of the environment that the draft was tried on: the newest one.'),
		gains: z.array(ImpactRow).describe('Checks that are allowed only with the draft, at most `limits.rows`.'),
		loses: z.array(ImpactRow).describe('Checks that are allowed only without the draft, at most `limits.rows`.'),
		counts: z
			.object({
				gained: count.describe('How many checks are allowed only with the draft.'),
				lost: count.describe('How many checks are allowed only without it.'),
				asked: count.describe('How many checks were asked, because the draft could concern them.'),
				by_cause: z
					.array(ImpactCauseCount)
					.describe(
						'The same by what grants the action, the most first. A check that several things grant counts for the first.',
					),
			})
			.describe('All of it, listed or not. Lower bounds if `truncated`.'),
		truncated: z
			.boolean()
			.describe('Whether checks were left out, because there are more than `limits.checks` or it took too long.'),
		decisions: z
			.object({
				replayed: count.describe('How many logged decisions were decided again.'),
				skipped: count.describe('How many could not be, because their input is not in the log.'),
				gained: count.describe('How many of them are allowed only with the draft.'),
				lost: count.describe('How many of them are allowed only without it.'),
				rows: z.array(LoggedDecisionRow).describe('Those that come out differently, the newest first.'),
				truncated: z.boolean().describe('Whether it took too long to decide all of them.'),
			})
			.describe(
				'The newest logged decisions, decided again with the facts of `base_revision`, and with the draft, at the ' +
					'time of this request. Attributes that were masked are missing.',
			),
		left_out: z
			.array(
				z.object({
					object: z.string().describe('What people call it, such as "user set `adults`".'),
					message: z.string().describe('What the compiler or OPA said.'),
				}),
			)
			.describe('What would be left out of the policy, because the schema does not compile with it.'),
	})
	.meta({ id: 'Impact', description: 'Who gains and who loses by a draft.' });
export type Impact = z.input<typeof Impact>;

/** How many changes may lie between a revision that is explained and the newest one. */
export const maxChangesSince = 5_000;

/** A check, and the revision to explain it at. */
export const ExplanationRequest = z
	.object({
		...Query.omit({ use_debugger: true, sdk: true }).shape,
		revision: z.int().min(0).describe('The revision of the environment whose policy and facts decide.'),
		token: optional(z.string().max(64)).describe(
			'The token of the revision, as events of the decision log have it in `custom`: 410 where the database has another ' +
				'revision of this number, because history was cut since.',
		),
		at: optional(z.iso.datetime({ offset: true, error: 'must be a time such as 2026-01-31T08:00:00Z' })).describe(
			'When it is decided: what has ended by then is not there. ISO 8601 with a zone; now, when left out.',
		),
	})
	.meta({ id: 'ExplanationRequest', description: 'A check, and the revision to explain it at.' });
export type ExplanationRequest = z.output<typeof ExplanationRequest>;
