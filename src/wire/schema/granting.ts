import { z } from 'zod';
import { ComparedAttributes } from '../attributes.js';
import { defaulted, environmentObject, optional, Reference, StoredObject, Timestamp } from '../common.js';

/**
 * Request bodies that grant access. Unknown fields are rejected, because ignoring them would widen the grant. Fields
 * that exist only in responses, and unknown fields with the value null, are ignored so clients can send back a
 * response.
 */

/** Fields of every object in a response. */
const everywhere = Object.keys(environmentObject);

/**
 * Returns the schema for a body that grants access. Ids and times from responses are ignored; `echoed` lists additional
 * response fields to ignore.
 */
export function granting<S extends z.ZodRawShape>(shape: S, echoed: readonly string[] = []) {
	const ignored = new Set([...everywhere, ...echoed].filter((name) => !Object.hasOwn(shape, name)));
	const isIgnored = ([name, value]: readonly [string, unknown]) =>
		ignored.has(name) || (value === null && !Object.hasOwn(shape, name));
	return z.preprocess((body) => {
		if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
		const members = Object.entries(body);
		return members.some(isIgnored) ? Object.fromEntries(members.filter((member) => !isIgnored(member))) : body;
	}, z.strictObject(shape));
}

const firstFiveDigitYear = Date.UTC(10_000, 0);

/**
 * Grant expiry: a future time in ISO 8601 with a zone. If absent or null, the grant does not expire. Parses to ISO 8601
 * in UTC, with `Z`.
 */
export const Expiry = z.iso
	.datetime({ offset: true, error: ({ input }) => `must be an ISO 8601 time with a zone, got ${shown(input)}` })
	.refine((instant) => !(Date.parse(instant) <= Date.now()), {
		error: ({ input }) => `must be in the future, got ${shown(input)}`,
	})
	// If a time in the year 9999 has an offset, it may be in the year 10000 in UTC.
	.refine((instant) => !(Date.parse(instant) >= firstFiveDigitYear), {
		error: ({ input }) => `must be before the year 10000 in UTC, got ${shown(input)}`,
	})
	.transform((instant) => new Date(instant).toISOString())
	.meta({
		type: 'string',
		format: 'date-time',
		description: 'Grant expiry, in the future. Absent or null: no expiry.',
		example: '2999-12-31T23:59:59Z',
	});

/** Expiry field in a grant request. */
export const expiryShape = {
	expires_at: optional(Expiry).describe('Grant expiry, in the future. Absent or null: no expiry.'),
};

/** A grant's condition, with parameter values. */
export const AssignedCondition = z
	.strictObject({
		set: Reference.describe('Condition set of type `grant` that the role or relation declares: id or key.'),
		values: defaulted(ComparedAttributes, () => ({})).describe('A value for each parameter of the set.'),
	})
	.meta({
		id: 'AssignedCondition',
		description: 'A condition: the grant applies only while the condition holds.',
		example: { set: 'below_limit', values: { limit: 500 } },
	});

const separate = 'Conditional and unconditional grants are separate, and so are grants under different sets.';

/** Condition field in a role assignment request. */
export const conditionShape = {
	condition: optional(AssignedCondition).describe(
		`Condition of the grant, only with \`resource_instance\`. Absent or null: no condition. ${separate}`,
	),
};

/** Condition field in a relationship request. */
export const tupleConditionShape = {
	condition: optional(AssignedCondition).describe(
		`Condition of the relationship. Absent or null: no condition. ${separate}`,
	),
};

/** Condition field in a removal request. */
export const removedConditionShape = {
	condition: optional(z.object({ set: Reference.describe('Condition set of the grant: id or key.') })).describe(
		'Condition of the grant to remove. Absent or null: the unconditional grant.',
	),
};

/** Condition field in a grant response. Absent if the grant has no condition. */
export const shownCondition = {
	condition: z
		.object({
			set: z.string().describe('Key of the condition set.'),
			values: StoredObject.describe('Values for the parameters of the set.'),
		})
		.optional()
		.describe('Condition of the grant; absent if there is none.'),
};

/** Expiry field in a grant response. Absent if the grant does not expire. */
export const shownExpiry = {
	expires_at: Timestamp.optional().meta({ description: 'Grant expiry; absent if the grant does not expire.' }),
};

/** Formats an invalid value for a message. */
function shown(value: unknown): string {
	const text = typeof value === 'string' || typeof value === 'number' ? String(value) : typeof value;
	return `\`${text.slice(0, 100)}\``;
}
