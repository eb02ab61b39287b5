import { z } from 'zod';
import { everyone } from '../../compiler/everyone.js';
import { isUserSet, userSetParts } from '../../compiler/user-set.js';
import { boundedRecord, reservedName } from './bounded.js';
import { type JsonJudge, refuseFaults } from './json-fault.js';

/** Building blocks for all wire models: strings, keys, ids, times, attributes, and the meaning of absent fields. */

/**
 * Maximum key length. Database indexes contain keys, and the size of their entries is limited. Ids from other systems
 * are much shorter.
 */
export const maxKeyLength = 512;
const maxNameLength = 1024;
const maxTextLength = 16_384;
/** Maximum reference length. A reference may be `<resource key>:<instance key>`. */
const maxReferenceLength = 2 * maxKeyLength + 1;
/** Maximum length for a set of users, `<resource key>:<instance key>#<role key>`. */
const maxUserSetLength = 3 * maxKeyLength + 2;

const unstorable = /[\0\p{Surrogate}]/u;
const unstorableMessage = 'must not contain NUL characters or lone surrogates';

/** True if the store can contain the string. PostgreSQL text cannot contain NUL characters or lone surrogates. */
function isStorable(text: string): boolean {
	return !unstorable.test(text);
}

function boundedText(maxLength: number) {
	return z.string().max(maxLength).refine(isStorable, unstorableMessage);
}

/** Free text, up to 16,384 characters. */
export const Text = boundedText(maxTextLength);

/** Display name of up to 1,024 characters. May be empty. */
export const Name = boundedText(maxNameLength);

/** Id or key of an object. The handler checks that the object exists. */
export const Reference = boundedText(maxReferenceLength).min(1).meta({ description: 'An id (UUID) or a key.' });

/** User id, user key, `*` or a set of users, as a filter. Any other text matches nothing. */
export const HolderFilter = boundedText(maxUserSetLength).min(1).meta({ description: 'An id (UUID) or a key.' });

/** Character between the type and the key in an instance name. Neither part may contain it. */
const instanceSeparator = ':';

/** Splits `<resource key>:<instance key>` into its parts. Returns `null` if the string has a different form. */
export function instanceParts(reference: string): { readonly resource: string; readonly key: string } | null {
	const [resource = '', key = '', ...rest] = reference.split(instanceSeparator);
	return resource === '' || key === '' || rest.length > 0 ? null : { resource, key };
}

/** Formats an instance as `<resource key>:<instance key>`. */
export function instanceName(resource: string, key: string): string {
	return `${resource}${instanceSeparator}${key}`;
}

/** Key for any object except a user. */
export const Key = z
	.string()
	.max(maxKeyLength)
	.regex(/^[A-Za-z0-9\-_]+$/, 'must be one or more of a-z, A-Z, 0-9, `-`, `_`')
	.refine((key) => key !== reservedName, 'is a reserved name');

/** User key, which is often an e-mail address or an identity provider's subject. */
export const UserKey = z
	.string()
	.max(maxKeyLength)
	.regex(/^[A-Za-z0-9|@+\-._]+$/, 'must be one or more of a-z, A-Z, 0-9, `|`, `@`, `+`, `-`, `.`, `_`')
	.refine((key) => key !== reservedName, 'is a reserved name');

/** Form for sets of users, in messages. */
const userSetForm = '`<resource key>:<instance key>#<role key>`';

/** User key in a role assignment: a user's key, `*` for everyone, or a set of users. */
export const HolderKey = z
	.string()
	.refine(
		(key) => key === everyone || isSet(key) || UserKey.safeParse(key).success,
		`must be a user key, \`${everyone}\` or ${userSetForm}`,
	);

/** Reference to a role assignment's holder: a user's id or key, `*` for everyone, or a set of users. */
export const HolderReference = boundedText(maxUserSetLength)
	.min(1)
	.refine(
		(text) => isSet(text) || (text.length <= maxReferenceLength && !isUserSet(text)),
		`must be an id, a user key, \`${everyone}\` or ${userSetForm}`,
	);

function isSet(text: string): boolean {
	const set = userSetParts(text);
	return (
		set !== null && [...set.instance.split(instanceSeparator), set.role].every((key) => Key.safeParse(key).success)
	);
}

/**
 * Reference to a resource instance in a body: `<resource key>:<instance key>`, its id, or its key alone if only one
 * instance has this key. Both parts must be valid keys, because a missing instance may be created from them.
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

/**
 * Converts an id to dashed lowercase. The id may be dashed or consist of 32 hexadecimal digits. Returns `null` if the
 * string is not an id.
 */
export function asId(text: string): string | null {
	return uuidForm.test(text) ? dashed(text) : null;
}

function dashed(uuid: string): string {
	const lower = uuid.toLowerCase();
	return lower.length === 36 ? lower : lower.replace(uuidForm, '$1-$3-$4-$5-$6');
}

/** Id, either dashed or as 32 hexadecimal digits, in any case. Parses to dashed lowercase. */
export const Uuid = z
	.string()
	.regex(uuidForm, 'must be a UUID')
	.transform(dashed)
	.meta({ type: 'string', format: 'uuid' });

/** Time, as a `Date` or an ISO 8601 string with a zone. Parses to ISO 8601 in UTC, with `Z`. */
export const Timestamp = z
	.union([z.date(), z.iso.datetime({ offset: true })])
	.transform((instant) => new Date(instant).toISOString())
	.meta({ type: 'string', format: 'date-time' });

/** A JSON object from the store. */
export type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Any JSON object, without validation. Used in responses. */
export const StoredObject = z
	.custom<JsonObject>(isObject, 'must be an object')
	.meta({ type: 'object', additionalProperties: true });

/**
 * Any JSON object that can be stored. Values are checked at all depths. Used in requests. The server has already
 * limited the depth.
 */
export const Attributes = z
	.custom<JsonObject>()
	.superRefine(refuseUnstorable)
	.meta({ type: 'object', additionalProperties: true });

/** Reports a value that is not a JSON object, and each nested value that cannot be stored. */
export function refuseUnstorable(value: unknown, ctx: z.RefinementCtx): void {
	if (isObject(value)) refuseFaults(value, storable, ctx);
	else ctx.addIssue({ code: 'invalid_type', expected: 'object', message: 'must be an object', input: value });
}

const storable: JsonJudge = {
	leaf: (value) => {
		if (typeof value === 'string') return isStorable(value) ? null : unstorableMessage;
		// `JSON.parse` reads 1e999 as infinity, which JSON cannot represent.
		return typeof value === 'number' && !Number.isFinite(value) ? 'must be a finite number' : null;
	},
	name: (name) => {
		if (name === reservedName) return 'is a reserved name';
		return isStorable(name) ? null : unstorableMessage;
	},
};

/**
 * JSON object whose field names are keys, or strings that match `name`. A problem with a name is reported at its field.
 */
export function keyed<S extends z.ZodType>(value: S, name: z.ZodString = Key) {
	return boundedRecord(name, value);
}

/** Optional field in a create request. Null is treated as absent. */
export function optional<S extends z.ZodType>(schema: S) {
	return schema
		.nullish()
		.transform((value) => value ?? undefined)
		.optional();
}

/** Optional field with a default. Null is treated as absent. `fallback` creates a new default for each request. */
export function defaulted<S extends z.ZodType>(schema: S, fallback: () => z.output<S>) {
	return schema.nullish().transform((value): z.output<S> => value ?? fallback());
}

/** Field in a PATCH request. If absent, the stored value is kept; null clears it. */
export function clearable<S extends z.ZodType>(schema: S) {
	return schema.nullable().optional();
}

/** Field without meaning on this server. Rejected with `message` unless it is empty. */
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

/** Fields of all environment objects. Their values never change. */
export const environmentScoped = {
	id: Uuid.describe('Object id (UUID), assigned at creation.'),
	organization_id: Uuid.describe('Organization id.'),
	project_id: Uuid.describe('Project id.'),
	environment_id: Uuid.describe('Environment id.'),
	created_at: Timestamp.describe('Creation time, in UTC.'),
};

/** Fields shared by all mutable objects of an environment. */
export const environmentObject = {
	...environmentScoped,
	updated_at: Timestamp.describe('Last change, in UTC.'),
};

/** Response field that is always null. It exists because clients read it. */
export const AlwaysNull = z.null().default(null).describe('Always null; kept because clients read it.');
