import { z } from 'zod';
import { boundedRecord, reservedName } from './bounded.js';
import { type JsonJudge, refuseFaults } from './json-fault.js';

/** The vocabulary every wire model is made of: text, keys, ids, times, attributes, and what absence means. */

/** The longest key. Keys are parts of database indexes, whose entries have a limit; vendors' ids stay far below it. */
export const maxKeyLength = 512;
const maxNameLength = 1024;
const maxTextLength = 16_384;
/** A reference may be `<resource key>:<instance key>`. */
const maxReferenceLength = 2 * maxKeyLength + 1;

const unstorable = /[\0\p{Surrogate}]/u;
const unstorableMessage = 'must not contain NUL characters or lone surrogates';

/** Whether the store can hold this text: PostgreSQL text has no NUL characters and no lone surrogates. */
function isStorable(text: string): boolean {
	return !unstorable.test(text);
}

function boundedText(maxLength: number) {
	return z.string().max(maxLength).refine(isStorable, unstorableMessage);
}

/** Free text, up to 16,384 characters. */
export const Text = boundedText(maxTextLength);

/** A name for people, up to 1,024 characters; may be empty. */
export const Name = boundedText(maxNameLength);

/** Names an existing object by id or by key; whether it exists is for the handler to find out. */
export const Reference = boundedText(maxReferenceLength).min(1).meta({ description: 'An id (UUID) or a key.' });

/** Separates the type and the key of an instance; neither can contain it. */
const instanceSeparator = ':';

/** The parts of `<resource key>:<instance key>`; `null` when the text is not of that form. */
export function instanceParts(reference: string): { readonly resource: string; readonly key: string } | null {
	const [resource = '', key = '', ...rest] = reference.split(instanceSeparator);
	return resource === '' || key === '' || rest.length > 0 ? null : { resource, key };
}

/** How an instance is written: `<resource key>:<instance key>`. */
export function instanceName(resource: string, key: string): string {
	return `${resource}${instanceSeparator}${key}`;
}

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

/**
 * Names a resource instance in a body: `<resource key>:<instance key>`, or its id, or its key alone where only one
 * instance has it. Both parts are keys, because an instance that does not exist may be created under them.
 */
export const InstanceReference = Text.refine(
	isInstanceReference,
	'must be `<resource key>:<instance key>` or an id',
).meta({ description: '`<resource key>:<instance key>`, or an id (UUID).', example: 'document:budget' });

function isInstanceReference(text: string): boolean {
	const parts = text.split(instanceSeparator);
	return parts.length <= 2 && parts.every((part) => Key.safeParse(part).success);
}

const uuidForm = /^([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/i;

/** The id in a text, dashed or 32 hexadecimal digits, made dashed and lower case; `null` if the text is no id. */
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
	.superRefine(refuseUnstorable)
	.meta({ type: 'object', additionalProperties: true });

/** Reports a value that is not a JSON object, or what the store cannot hold of one, each at its place. */
export function refuseUnstorable(value: unknown, ctx: z.RefinementCtx): void {
	if (isObject(value)) refuseFaults(value, storable, ctx);
	else ctx.addIssue({ code: 'invalid_type', expected: 'object', message: 'must be an object', input: value });
}

const storable: JsonJudge = {
	leaf: (value) => {
		if (typeof value === 'string') return isStorable(value) ? null : unstorableMessage;
		// JSON.parse reads 1e999 as infinity, which JSON cannot represent.
		return typeof value === 'number' && !Number.isFinite(value) ? 'must be a finite number' : null;
	},
	name: (name) => {
		if (name === reservedName) return 'is a reserved name';
		return isStorable(name) ? null : unstorableMessage;
	},
};

/** A JSON object whose member names are keys, or match `name`; a wrong one is refused at its place. */
export function keyed<S extends z.ZodType>(value: S, name: z.ZodString = Key) {
	return boundedRecord(name, value);
}

/** A field a create may leave out; an explicit null is the same as leaving it out. */
export function optional<S extends z.ZodType>(schema: S) {
	return schema
		.nullish()
		.transform((value) => value ?? undefined)
		.optional();
}

/** A field that a create may leave out or send as null, and its default. `fallback` makes a new value each time. */
export function defaulted<S extends z.ZodType>(schema: S, fallback: () => z.output<S>) {
	return schema.nullish().transform((value): z.output<S> => value ?? fallback());
}

/** A field of a PATCH: absent keeps what is stored, null clears it. */
export function clearable<S extends z.ZodType>(schema: S) {
	return schema.nullable().optional();
}

/** A field that has no meaning here: refused with this message unless it is empty. */
export function unserved(message: string, description: string) {
	return z
		.unknown()
		.refine(saysNothing, message)
		.transform(() => undefined)
		.optional()
		.meta({ description });
}

function saysNothing(value: unknown): boolean {
	return value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);
}

/** The members of every object of an environment that cannot be changed. */
export const environmentScoped = {
	id: Uuid.describe('The id (UUID), given when it was created.'),
	organization_id: Uuid.describe('The id of the organization.'),
	project_id: Uuid.describe('The id of the project.'),
	environment_id: Uuid.describe('The id of the environment.'),
	created_at: Timestamp.describe('When it was created, in UTC.'),
};

/** The members of every object of an environment that can be changed. */
export const environmentObject = {
	...environmentScoped,
	updated_at: Timestamp.describe('When it was last changed, in UTC.'),
};

/** A field of an answer that is null whatever happens, kept because clients look for it. */
export const AlwaysNull = z.null().default(null).describe('Always null: kept because clients look for it.');
