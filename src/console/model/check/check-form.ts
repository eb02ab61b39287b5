import { jsonProblem } from '../json-problem.js';
import { splitInstance } from './attempt.js';
import { contextualProblem, loggedContextualRows } from './contextual-rows.js';

/** Check as strings from a form. An empty field is an empty string. */
export interface CheckForm {
	readonly user: string;
	readonly action: string;
	readonly resource: string;
	readonly instance: string;
	readonly tenant: string;
	/** JSON objects as text. */
	readonly userAttributes: string;
	readonly resourceAttributes: string;
	readonly context: string;
	/** Contextual rows as text. */
	readonly contextualFacts: string;
	/** Revision number; empty for the newest. */
	readonly revision: string;
	/**
	 * Revision token from a logged decision. Without the token, the revision number may now refer to a different
	 * revision.
	 */
	readonly token: string;
	/** Time for a check at a revision, in ISO 8601. If empty, the check uses the current time. */
	readonly at: string;
}

/** URL parameters, keyed by form field. */
const parameters = {
	user: 'user',
	action: 'action',
	resource: 'resource',
	instance: 'instance',
	tenant: 'tenant',
	userAttributes: 'user_attributes',
	resourceAttributes: 'resource_attributes',
	context: 'context',
	contextualFacts: 'contextual_facts',
	revision: 'revision',
	token: 'token',
	at: 'at',
} as const satisfies Readonly<Record<keyof CheckForm, string>>;

const fields = Object.keys(parameters) as readonly (keyof CheckForm)[];

export const emptyCheckForm: CheckForm = {
	user: '',
	action: '',
	resource: '',
	instance: '',
	tenant: '',
	userAttributes: '',
	resourceAttributes: '',
	context: '',
	contextualFacts: '',
	revision: '',
	token: '',
	at: '',
};

/**
 * Reads the form from an address. If the parameter for `instance` is absent, `resource` may be an instance
 * `<type>:<key>`.
 */
export function readCheckForm(get: (parameter: string) => string): CheckForm {
	const entries = fields.map((field) => [field, get(parameters[field])] as const);
	return separateInstance({ ...emptyCheckForm, ...Object.fromEntries(entries) });
}

/** Returns all URL parameters, keyed by name. Empty fields are empty strings. */
export function checkQuery(form: CheckForm): Readonly<Record<string, string>> {
	return Object.fromEntries(fields.map((field) => [parameters[field], form[field]]));
}

/** If the form has no instance, splits a resource `<type>:<key>` into resource and instance. */
export function separateInstance(form: CheckForm): CheckForm {
	if (form.instance !== '' || !form.resource.includes(':')) return form;
	const { type, key } = splitInstance(form.resource);
	return { ...form, resource: type, instance: key };
}

/** Check as a decision point request. */
export interface CheckBody {
	readonly user: { readonly key: string; readonly attributes?: Readonly<Record<string, unknown>> };
	readonly action: string;
	readonly resource: {
		readonly type: string;
		readonly key?: string;
		readonly tenant?: string;
		readonly attributes?: Readonly<Record<string, unknown>>;
	};
	readonly context?: Readonly<Record<string, unknown>>;
}

/**
 * Returns the check described by a form, without its contextual facts; `null` if a required field is empty or a field
 * is invalid.
 */
export function checkBody(form: CheckForm): CheckBody | null {
	const { user, action, resource, instance, tenant } = form;
	if (user === '' || action === '' || resource === '' || formProblem(form) !== null) return null;
	return {
		user: { key: user, ...member('attributes', form.userAttributes) },
		action,
		resource: {
			type: resource,
			...(instance === '' ? {} : { key: instance }),
			...(tenant === '' ? {} : { tenant }),
			...member('attributes', form.resourceAttributes),
		},
		...member('context', form.context),
	};
}

/**
 * Returns the filter described by a form: a check for all instances, without contextual facts, which filters do not
 * support. Returns `null` in the same cases as `checkBody`.
 */
export function filterBody(form: CheckForm): CheckBody | null {
	return checkBody({ ...form, instance: '', contextualFacts: '' });
}

/** Returns the first problem in the JSON and number fields; `null` if there is none. */
export function formProblem(form: CheckForm): string | null {
	const problems = [
		['User attributes', objectProblem(form.userAttributes)],
		['Resource attributes', objectProblem(form.resourceAttributes)],
		['Context', objectProblem(form.context)],
		['Contextual facts', contextualProblem(form.contextualFacts) ?? laterProblem(form)],
		['Revision', /^\d{0,15}$/.test(form.revision) ? null : 'must be a whole number'],
	] as const;
	const [name, problem] = problems.find(([, found]) => found !== null) ?? [];
	return problem === undefined || problem === null ? null : `${name}: ${problem}`;
}

/** Only decision points accept contextual facts, and they decide at the newest revision. */
function laterProblem({ contextualFacts, revision }: CheckForm): string | null {
	return contextualFacts === '' || revision === '' ? null : 'only checks at the newest revision support them';
}

/** Returns the reason why a text is not a JSON object. Returns `null` for an object and for an empty string. */
export function objectProblem(text: string): string | null {
	if (text.trim() === '') return null;
	const problem = jsonProblem(text);
	if (problem !== null) return problem;
	return readObject(text) === null ? 'must be a JSON object, such as {"level": 3}' : null;
}

function member<Name extends string>(
	name: Name,
	text: string,
): { readonly [K in Name]?: Readonly<Record<string, unknown>> } {
	const value = text.trim() === '' ? null : readObject(text);
	return value === null ? {} : ({ [name]: value } as { readonly [K in Name]: Readonly<Record<string, unknown>> });
}

function readObject(text: string): Readonly<Record<string, unknown>> | null {
	const value: unknown = JSON.parse(text);
	return asObject(value);
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | null {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
		? (value as Readonly<Record<string, unknown>>)
		: null;
}

/** Revision and time of a decision. */
export type DecidedAt = Pick<CheckForm, 'revision' | 'at'> & Partial<Pick<CheckForm, 'token'>>;

/**
 * Builds the form for a logged check from its input. Fields are empty if the input does not contain them. A check with
 * contextual facts gets no revision, because it can only be repeated at the newest revision.
 */
export function loggedCheckForm(input: unknown, { revision, token = '', at }: DecidedAt): CheckForm {
	const { user, action, resource, context, contextual_facts } = asObject(input) ?? {};
	const who = asObject(user) ?? { key: user };
	const what = asObject(resource) ?? { type: resource };
	const contextualFacts = loggedContextualRows(contextual_facts ?? {}, textOrNone(who['key']));
	const decidedAt = contextualFacts === '' ? { revision, token, at } : { revision: '', token: '', at: '' };
	return separateInstance({
		user: textOrNone(who['key']),
		action: textOrNone(action),
		resource: textOrNone(what['type']),
		instance: textOrNone(what['key']),
		tenant: textOrNone(what['tenant']),
		userAttributes: objectText(who['attributes']),
		resourceAttributes: objectText(what['attributes']),
		context: objectText(context),
		contextualFacts,
		...decidedAt,
	});
}

function textOrNone(value: unknown): string {
	return typeof value === 'string' ? value : '';
}

function objectText(value: unknown): string {
	const object = asObject(value);
	return object === null || Object.keys(object).length === 0 ? '' : JSON.stringify(object);
}

/** User and resource attributes that the conditions read. */
export interface SeenAttributes {
	readonly user: Readonly<Record<string, unknown>>;
	readonly resource: Readonly<Record<string, unknown>>;
}

/**
 * Returns a form that sends an attribute such as `user.address.city`. A sent attribute replaces the whole stored
 * attribute, so the rest of `address` is sent too, with the values that the conditions read. A null value is sent as
 * null, which conditions treat as missing.
 */
export function withAttribute(form: CheckForm, seen: SeenAttributes, attribute: string, value: unknown): CheckForm {
	const [object = '', name = '', ...path] = attribute.split('.');
	const field = attributeFields.get(object);
	if (field === undefined || objectProblem(form[field]) !== null) return form;
	const sent = form[field].trim() === '' ? {} : (readObject(form[field]) ?? {});
	const known = object === 'user' || object === 'resource' ? seen[object] : {};
	const before = Object.hasOwn(sent, name) ? sent[name] : Object.hasOwn(known, name) ? known[name] : undefined;
	const after = Object.fromEntries([
		...Object.entries(sent).filter(([other]) => other !== name),
		[name, withMember(before, path, value)] as const,
	]);
	return { ...form, [field]: JSON.stringify(after) };
}

const attributeFields: ReadonlyMap<string, 'userAttributes' | 'resourceAttributes' | 'context'> = new Map([
	['user', 'userAttributes'],
	['resource', 'resourceAttributes'],
	['context', 'context'],
]);

function withMember(before: unknown, [name, ...path]: readonly string[], value: unknown): unknown {
	if (name === undefined) return value;
	const object = asObject(before) ?? {};
	const inner = Object.hasOwn(object, name) ? object[name] : undefined;
	const others = Object.entries(object).filter(([other]) => other !== name);
	return Object.fromEntries([...others, [name, withMember(inner, path, value)]]);
}
