import { z } from 'zod';

/** The vocabulary every wire model is made of: text, keys, ids, times, attributes, and what absence means. */

/** The longest key. Keys are parts of database indexes, whose entries have a limit; vendors' ids stay far below it. */
export const maxKeyLength = 512;
const maxNameLength = 1024;
const maxTextLength = 16_384;
/** A reference may be `<resource key>:<instance key>`. */
const maxReferenceLength = 2 * maxKeyLength + 1;

/** A name a plain JavaScript object cannot hold as a member without changing what the object is. */
const reservedName = '__proto__';

const unstorable = /[\0\p{Surrogate}]/u;
const unstorableMessage = 'must not contain NUL characters or lone surrogates';

/** Whether the store can hold this text: PostgreSQL has no NUL in text, and no half of a surrogate pair. */
function isStorable(text: string): boolean {
	return !unstorable.test(text);
}

function textOf(maxLength: number) {
	return z.string().max(maxLength).refine(isStorable, unstorableMessage);
}

/** Free text, up to 16,384 characters. */
export const Text = textOf(maxTextLength);

/** A name for people, up to 1,024 characters; may be empty. */
export const Name = textOf(maxNameLength);

/** Names an existing object by id or by key; whether it exists is for the handler to find out. */
export const Reference = textOf(maxReferenceLength).min(1).meta({ description: 'An id (UUID) or a key.' });

/** The key of everything but users (spec: Keys, rule 3). */
export const Key = z
	.string()
	.max(maxKeyLength)
	.regex(/^[A-Za-z0-9\-_]+$/, 'must be one or more of a-z, A-Z, 0-9, `-`, `_`')
	.refine((key) => key !== reservedName, 'is a reserved name');

/** The key of a user, which is often an e-mail address or an identity provider's subject (spec: Keys, rule 3). */
export const UserKey = z
	.string()
	.max(maxKeyLength)
	.regex(/^[A-Za-z0-9|@+\-._]+$/, 'must be one or more of a-z, A-Z, 0-9, `|`, `@`, `+`, `-`, `.`, `_`')
	.refine((key) => key !== reservedName, 'is a reserved name');

const uuidForm = /^([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/i;

/** The id that a text spells, dashed or as 32 hexadecimal digits, made dashed and lower case; `null` when it is none. */
export function asId(text: string): string | null {
	return uuidForm.test(text) ? dashed(text) : null;
}

function dashed(uuid: string): string {
	return uuid.toLowerCase().replace(uuidForm, '$1-$3-$4-$5-$6');
}

/** An id: dashed or 32 hexadecimal digits in any case; comes out dashed and lower case. */
export const Uuid = z
	.string()
	.regex(uuidForm, 'must be a UUID')
	.transform(dashed)
	.meta({ type: 'string', format: 'uuid' });

/** An instant: a `Date` or ISO 8601 text with a zone; comes out as ISO 8601 in UTC, with `Z`. */
export const Timestamp = z
	.union([z.date(), z.iso.datetime({ offset: true })])
	.transform((instant) => new Date(instant).toISOString())
	.meta({ type: 'string', format: 'date-time' });

/** A JSON object as the store gave it. */
export type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Any JSON object, not looked into: for answers. */
export const StoredObject = z
	.custom<JsonObject>(isObject, 'must be an object')
	.meta({ type: 'object', additionalProperties: true });

/** Any JSON object the store can hold, at every depth: for requests. The server bounds the depth before. */
export const Attributes = z
	.custom<JsonObject>()
	.superRefine((value, ctx) => {
		if (isObject(value)) refuseUnstorable(value, [], ctx);
		else ctx.addIssue({ code: 'invalid_type', expected: 'object', message: 'must be an object', input: value });
	})
	.meta({ type: 'object', additionalProperties: true });

function refuseUnstorable(value: unknown, path: readonly (string | number)[], ctx: z.RefinementCtx): void {
	const refuse = (message: string) => ctx.addIssue({ code: 'custom', message, path: [...path], input: String(value) });
	if (typeof value === 'string' && !isStorable(value)) refuse(unstorableMessage);
	// JSON.parse reads 1e999 as infinity, which JSON cannot say again.
	if (typeof value === 'number' && !Number.isFinite(value)) refuse('must be a number JSON can hold');
	if (Array.isArray(value)) for (const [index, item] of value.entries()) refuseUnstorable(item, [...path, index], ctx);
	if (!isObject(value)) return;
	for (const [name, member] of Object.entries(value)) {
		const here = [...path, name];
		if (name === reservedName) ctx.addIssue({ code: 'custom', message: 'is a reserved name', path: here, input: name });
		else if (!isStorable(name)) ctx.addIssue({ code: 'custom', message: unstorableMessage, path: here, input: name });
		else refuseUnstorable(member, here, ctx);
	}
}

/** A JSON object whose member names are keys; a wrong name is refused at its place. */
export function keyed<S extends z.ZodType>(value: S, key: typeof Key = Key) {
	return z.preprocess(
		refuseReservedName,
		z.record(key, value, { error: (issue) => (issue.code === 'invalid_key' ? keyProblem(issue) : undefined) }),
	);
}

/** The record schema would drop this member without a word. */
function refuseReservedName(value: unknown, ctx: z.RefinementCtx): unknown {
	if (isObject(value) && Object.hasOwn(value, reservedName)) {
		ctx.addIssue({ code: 'custom', message: 'is a reserved name', path: [reservedName], input: reservedName });
	}
	return value;
}

function keyProblem(issue: { readonly issues?: unknown }): string {
	const [first] = Array.isArray(issue.issues) ? (issue.issues as readonly { message?: string }[]) : [];
	return first?.message ?? 'is not a valid key';
}

/** A field a create may leave out; an explicit null is the same as leaving it out. */
export function optional<S extends z.ZodType>(schema: S) {
	return schema
		.nullish()
		.transform((value) => value ?? undefined)
		.optional();
}

/** A field a create may leave out or send as null, and what it is then. `fallback` makes a new value each time. */
export function defaulted<S extends z.ZodType>(schema: S, fallback: () => z.output<S>) {
	return schema.nullish().transform((value): z.output<S> => value ?? fallback());
}

/** A field of a PATCH: absent keeps what is stored, null clears it. */
export function clearable<S extends z.ZodType>(schema: S) {
	return schema.nullable().optional();
}

/** A field of the contract this service does not serve yet: refused unless it says nothing. */
export function deferred(what: string) {
	return z
		.unknown()
		.refine(saysNothing, `${what} are not served yet`)
		.transform(() => undefined)
		.optional()
		.meta({ description: `Not served yet: ${what}.` });
}

function saysNothing(value: unknown): boolean {
	return value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);
}

/** What every object of an environment that is never changed carries. */
export const environmentScoped = {
	id: Uuid,
	organization_id: Uuid,
	project_id: Uuid,
	environment_id: Uuid,
	created_at: Timestamp,
};

/** What every object of an environment that can be changed carries. */
export const environmentObject = { ...environmentScoped, updated_at: Timestamp };

/** A field of an answer that is null whatever happens, kept because clients look for it. */
export const AlwaysNull = z.null().default(null);
