/** Paths through which a check passes, or would pass after a change, as returned in `debug.attempts`. */

import { z } from 'zod';
import { everyone } from '../../../compiler/everyone.js';
import { named } from '../named.js';

const instanceNote = '`<type>:<key>`';

const tenant = z.string().describe('Tenant key.');
const user = z.string().describe('User key.');

function kindOfFact<Kind extends string>(kind: Kind) {
	return z.literal(kind).describe('Fact type.');
}

function kindOfStep<Kind extends string>(kind: Kind) {
	return z.literal(kind).describe('Step type.');
}

export const AttemptFact = z
	.discriminatedUnion('fact', [
		z.object({ fact: kindOfFact('tenant'), tenant }),
		z.object({ fact: kindOfFact('user'), user }),
		z.object({
			fact: kindOfFact('resource_instance'),
			resource_instance: z.string().describe(`Instance, as ${instanceNote}.`),
			tenant,
		}),
		z.object({
			fact: kindOfFact('role_assignment'),
			user,
			role: z.string().describe('Role key.'),
			tenant,
			resource_instance: z.string().optional().describe(`Instance, as ${instanceNote}; absent for tenant roles.`),
		}),
		z.object({
			fact: kindOfFact('relationship_tuple'),
			subject: z.string().describe(`Subject, as ${instanceNote}.`),
			relation: z.string().describe('Relation key.'),
			object: z.string().describe(`Object, as ${instanceNote}.`),
			tenant,
		}),
	])
	.meta({ id: 'AttemptFact', description: 'A stored or a hypothetical fact.' });

/** A stored or a hypothetical fact. */
export type AttemptFact = z.output<typeof AttemptFact>;

const file = z.string().describe('Generated policy file with the rules that give the role.');
const roleNote = 'Role key for a tenant role; `<type>:<key>#<role>` for a role on an instance.';
const resourceNote = 'Scope of the role: `__tenant:<key>`, or an instance `<type>:<key>`.';

/** The two sides of a condition set rule. An automatic set is displayed as its role or resource type. */
const ruleStep = z.object({
	type: kindOfStep('set_rule'),
	userset: z.string().optional().describe('User set key.'),
	role: z.string().optional().describe('Instead of `userset`: all holders of this role in the tenant.'),
	resourceset: z.string().optional().describe('Resource set key.'),
	resource_type: z.string().optional().describe('Instead of `resourceset`: all objects of this resource type.'),
});

export const AttemptStep = z
	.discriminatedUnion('type', [
		z.object({
			type: kindOfStep('role_assignment'),
			user: z.literal(everyone).optional().describe('Present for a role assigned to everyone.'),
			role: z.string().describe(roleNote),
			resource: z.string().describe(resourceNote),
			file: file.optional(),
		}),
		z.object({
			type: kindOfStep('role_derivation'),
			role: z.string().describe(roleNote),
			resource: z.string().describe(resourceNote),
			relation: z.string().describe('Relation between `subject` and `resource`.'),
			subject: z.string().describe(`${instanceNote}, the object for the role in the next step.`),
			file,
		}),
		z.object({
			type: kindOfStep('computed_role'),
			role: z
				.string()
				.describe(
					'A computed role, as `<type>:<key>#<role>`. The next steps are the sources of each role that it requires.',
				),
			resource: z.string().describe(resourceNote),
			excludes: z.array(z.string()).describe('Keys of the roles that the user must not hold in this scope.'),
			file,
		}),
		ruleStep,
	])
	.meta({ id: 'AttemptStep', description: 'A step in an attempt: the source for the role in the previous step.' });

export type AttemptStep = z.output<typeof AttemptStep>;

export const AttemptComparison = named('AttemptComparison', 'A comparison with a required result.', {
	set: z.string().describe('Key of the condition set with the comparison.'),
	attribute: z.string().describe('Attribute path, such as `user.level`.'),
	operator: z.string().describe('Comparison operator, as in conditions.'),
	operand: z.unknown().describe('Operand as written: a value, or `{"ref": "<attribute>"}`.'),
	negated: z.boolean().describe('True if the comparison must not hold.'),
	met: z.boolean().describe('True if the comparison already has this result, and must keep it after the change.'),
	change: z
		.string()
		.describe(
			'Attribute to change: this attribute, or the attribute in `ref`. The caller of the check sends `context.…` ' +
				'attributes; all others can also be stored.',
		),
	now: z.unknown().describe('Current attribute value; null if it is missing.'),
	example: z
		.unknown()
		.describe(
			'A value with which all comparisons with the attribute have the required results; null for a missing ' +
				'attribute. A check may send the value as an attribute.',
		),
});

/** A comparison with its required result. */
export type AttemptComparison = z.output<typeof AttemptComparison>;

const RulePlace = named('RulePlace', 'A rule in the generated policy.', {
	package: z.string().describe('Rule package.'),
	file: z.string().describe('Path relative to the policy root, as written by `regolith policy`.'),
	rule: z.string().describe('Rule name.'),
});

export const Attempt = named(
	'Attempt',
	'A path in the schema, bound to stored objects. The check passes this way, or would after the listed changes.',
	{
		passed: z.boolean().describe('True if the check passes this way.'),
		by: z.enum(['role_in_tenant', 'role_on_instance', 'set_rule']).describe('Grant source.'),
		chain: z
			.array(AttemptStep)
			.describe(
				'Steps from the granting role or condition set rule. For a role, each step is the source for the ' +
					'role before it, and the last step is the assignment.',
			),
		policy: RulePlace.describe('Generated policy rule for this path.'),
		add: z.array(AttemptFact).describe('Facts to add.'),
		remove: z.array(AttemptFact).describe('Facts to remove.'),
		compare: z.array(AttemptComparison).describe('Attribute comparisons to satisfy.'),
	},
);

export type Attempt = z.output<typeof Attempt>;
