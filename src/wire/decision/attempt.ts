/** The ways in which a check passes, or could: what `debug.attempts` holds. */

import { z } from 'zod';

const instanceNote = '`<type>:<key>`';

const tenant = z.string().describe('The key of the tenant.');
const user = z.string().describe('The key of the user.');

function kindOfFact<Kind extends string>(kind: Kind) {
	return z.literal(kind).describe('What kind of fact it is.');
}

function kindOfStep<Kind extends string>(kind: Kind) {
	return z.literal(kind).describe('What kind of step it is.');
}

/** A fact that is stored, or could be. */
export const AttemptFact = z
	.discriminatedUnion('fact', [
		z.object({ fact: kindOfFact('tenant'), tenant }),
		z.object({ fact: kindOfFact('user'), user }),
		z.object({
			fact: kindOfFact('resource_instance'),
			resource_instance: z.string().describe(`The instance, as ${instanceNote}.`),
			tenant,
		}),
		z.object({
			fact: kindOfFact('role_assignment'),
			user,
			role: z.string().describe('The key of the role.'),
			tenant,
			resource_instance: z
				.string()
				.optional()
				.describe(`The instance, as ${instanceNote}; absent for roles in tenants.`),
		}),
		z.object({
			fact: kindOfFact('relationship_tuple'),
			subject: z.string().describe(`The subject, as ${instanceNote}.`),
			relation: z.string().describe('The key of the relation.'),
			object: z.string().describe(`The object, as ${instanceNote}.`),
			tenant,
		}),
	])
	.meta({ id: 'AttemptFact', description: 'A fact that is stored, or could be.' });

/** A fact that is stored, or could be. */
export type AttemptFact = z.output<typeof AttemptFact>;

const file = z.string().meta({ description: 'The file of the generated policy with the ways to hold the role.' });
const roleNote = 'In a tenant the key of the role; on an instance `<type>:<key>#<role>`.';
const resourceNote = 'Where the role is held: `__tenant:<key>`, or an instance `<type>:<key>`.';

/** What a rule joins: an automatic set is named by what it stands for. */
const ruleStep = z.object({
	type: kindOfStep('set_rule'),
	userset: z.string().optional().describe('The key of the user set.'),
	role: z.string().optional().meta({ description: 'In place of `userset`: all who hold the role in the tenant.' }),
	resourceset: z.string().optional().describe('The key of the resource set.'),
	resource_type: z
		.string()
		.optional()
		.meta({ description: 'In place of `resourceset`: everything of the resource type.' }),
});

/** One step of an attempt: where the role of the step before comes from. */
export const AttemptStep = z
	.discriminatedUnion('type', [
		z.object({
			type: kindOfStep('role_assignment'),
			role: z.string().meta({ description: roleNote }),
			resource: z.string().meta({ description: resourceNote }),
			file: file.optional(),
		}),
		z.object({
			type: kindOfStep('role_derivation'),
			role: z.string().meta({ description: roleNote }),
			resource: z.string().meta({ description: resourceNote }),
			relation: z.string().meta({ description: 'By which `subject` is related to `resource`.' }),
			subject: z.string().meta({ description: `${instanceNote}, where the role of the next step is held.` }),
			file,
		}),
		ruleStep,
	])
	.meta({ id: 'AttemptStep', description: 'One step of an attempt: where the role of the step before comes from.' });

/** One step of an attempt. */
export type AttemptStep = z.output<typeof AttemptStep>;

/** A comparison that has to come out as it says. */
export const AttemptComparison = z
	.object({
		set: z.string().meta({ description: 'The key of the condition set that asks.' }),
		attribute: z.string().meta({ description: 'Such as `user.level`.' }),
		operator: z.string().describe('How they are compared, as conditions write it.'),
		operand: z.unknown().meta({ description: 'As it was written: a value, or `{"ref": "<attribute>"}`.' }),
		negated: z.boolean().meta({ description: 'Whether the comparison must not hold.' }),
		met: z.boolean().meta({ description: 'Whether it comes out so already, and has to after the change too.' }),
		change: z.string().meta({ description: 'The attribute to change: this one, or that of the `ref`.' }),
		now: z.unknown().meta({ description: 'The value that the attribute to change has; null when it is missing.' }),
		example: z.unknown().meta({
			description:
				'A value with which all comparisons of the attribute come out as they should. Null stands for none. A ' +
				'check may send it.',
		}),
	})
	.meta({ id: 'AttemptComparison', description: 'A comparison that has to come out as it says.' });

/** A comparison that has to come out as it says. */
export type AttemptComparison = z.output<typeof AttemptComparison>;

const RulePlace = z
	.object({
		package: z.string().describe('The package of the rule.'),
		file: z.string().meta({ description: 'Relative to the root of the policy, as `regolith policy` writes it.' }),
		rule: z.string().describe('The name of the rule.'),
	})
	.meta({ id: 'RulePlace', description: 'A rule of the generated policy.' });

/** One path of the schema, bound to stored objects: it passes, or it would if the facts were others. */
export const Attempt = z
	.object({
		passed: z.boolean().describe('Whether the check passes this way.'),
		by: z.enum(['role_in_tenant', 'role_on_instance', 'set_rule']).meta({ description: 'What grants the action.' }),
		chain: z.array(AttemptStep).meta({
			description:
				'Beginning with what grants the action: the role, of which each step says where it comes from and the last one where ' +
				'it is assigned, or the rule between condition sets.',
		}),
		policy: RulePlace.meta({ description: 'The rule of the generated policy that says so.' }),
		add: z.array(AttemptFact).meta({ description: 'The facts that are missing.' }),
		remove: z.array(AttemptFact).meta({ description: 'The facts that are in the way.' }),
		compare: z.array(AttemptComparison).meta({ description: 'The comparisons of attributes to meet.' }),
	})
	.meta({
		id: 'Attempt',
		description: 'One path of the schema, bound to stored objects: it passes, or it would if the facts were others.',
	});

/** One path of the schema, bound to stored objects. */
export type Attempt = z.output<typeof Attempt>;
