/** The ways in which a check passes, or could: what `debug.attempts` holds. */

import { z } from 'zod';

const instanceNote = '`<type>:<key>`';

/** A fact that is stored, or could be. */
export const AttemptFact = z.discriminatedUnion('fact', [
	z.object({ fact: z.literal('tenant'), tenant: z.string() }),
	z.object({ fact: z.literal('user'), user: z.string() }),
	z.object({
		fact: z.literal('resource_instance'),
		resource_instance: z.string().meta({ description: instanceNote }),
		tenant: z.string(),
	}),
	z.object({
		fact: z.literal('role_assignment'),
		user: z.string(),
		role: z.string(),
		tenant: z.string(),
		resource_instance: z
			.string()
			.optional()
			.meta({ description: `${instanceNote}; absent for roles in tenants.` }),
	}),
	z.object({
		fact: z.literal('relationship_tuple'),
		subject: z.string().meta({ description: instanceNote }),
		relation: z.string(),
		object: z.string().meta({ description: instanceNote }),
		tenant: z.string(),
	}),
]);

/** A fact that is stored, or could be. */
export type AttemptFact = z.output<typeof AttemptFact>;

const file = z.string().meta({ description: 'The file of the generated policy with the ways to hold the role.' });
const roleNote = 'In a tenant the key of the role; on an instance `<type>:<key>#<role>`.';
const resourceNote = 'Where the role is held: `__tenant:<key>`, or an instance `<type>:<key>`.';

/** What a rule joins: an automatic set is named by what it stands for. */
const ruleStep = z.object({
	type: z.literal('set_rule'),
	userset: z.string().optional(),
	role: z.string().optional().meta({ description: 'In place of `userset`: all who hold the role in the tenant.' }),
	resourceset: z.string().optional(),
	resource_type: z
		.string()
		.optional()
		.meta({ description: 'In place of `resourceset`: everything of the resource type.' }),
});

/** One step of an attempt: where the role of the step before comes from. */
export const AttemptStep = z.discriminatedUnion('type', [
	z.object({
		type: z.literal('role_assignment'),
		role: z.string().meta({ description: roleNote }),
		resource: z.string().meta({ description: resourceNote }),
		file: file.optional(),
	}),
	z.object({
		type: z.literal('role_derivation'),
		role: z.string().meta({ description: roleNote }),
		resource: z.string().meta({ description: resourceNote }),
		relation: z.string().meta({ description: 'By which `subject` is related to `resource`.' }),
		subject: z.string().meta({ description: `${instanceNote}, where the role of the next step is held.` }),
		file,
	}),
	ruleStep,
]);

/** One step of an attempt. */
export type AttemptStep = z.output<typeof AttemptStep>;

/** A comparison that has to come out as it says. */
export const AttemptComparison = z.object({
	set: z.string().meta({ description: 'The key of the condition set that asks.' }),
	attribute: z.string().meta({ description: 'Such as `user.level`.' }),
	operator: z.string(),
	operand: z.unknown().meta({ description: 'As it was written: a value, or `{"ref": "<attribute>"}`.' }),
	negated: z.boolean().meta({ description: 'Whether the comparison must not hold.' }),
	met: z.boolean().meta({ description: 'Whether it comes out so already, and has to after the change too.' }),
	change: z.string().meta({ description: 'The attribute to change: this one, or that of the `ref`.' }),
	now: z.unknown().meta({ description: 'The value that the attribute to change has; null when it is missing.' }),
	example: z.unknown().meta({
		description:
			'A value with which all comparisons of the attribute come out as they should. Null stands for none. A check may send it.',
	}),
});

/** A comparison that has to come out as it says. */
export type AttemptComparison = z.output<typeof AttemptComparison>;

const RulePlace = z.object({
	package: z.string(),
	file: z.string().meta({ description: 'Relative to the root of the policy, as `regolith policy` writes it.' }),
	rule: z.string(),
});

/** One path of the schema, bound to stored objects: it passes, or it would if the facts were others. */
export const Attempt = z.object({
	passed: z.boolean(),
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
});

/** One path of the schema, bound to stored objects. */
export type Attempt = z.output<typeof Attempt>;

const { $schema: _, ...attempts } = z.toJSONSchema(z.array(Attempt), { io: 'output' });

/** The JSON schema of the reasons of a decision, as far as they have types. */
export const debugSchema = {
	type: 'object',
	properties: {
		attempts: {
			...attempts,
			description:
				'The ways in which the check passes, or, if it does not, in which it would; each with the ' +
				'changes that suffice, the fewest first. There only when asked for.',
		},
		truncated: {
			type: 'boolean',
			description: 'There with `attempts`: whether there may be more of them.',
		},
	},
} as const;
