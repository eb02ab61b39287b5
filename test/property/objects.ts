/** Object kinds for the PUT and PATCH properties: their fields and possible values. */
import fc from 'fast-check';
import { idLike } from '../support/bodies.js';
import type { Loose } from '../support/client.js';
import { exactNumbers } from '../support/exact-numbers.js';
import type { Place } from '../support/management.js';

/** A field that create, PATCH and PUT accept, if the kind has these methods. */
export interface Field {
	readonly values: fc.Arbitrary<unknown>;
	/** True if a create requires it. */
	readonly required?: true;
	/** Value after a create without the field. */
	readonly empty: unknown;
	/** How a PATCH treats null. */
	readonly null: 'clears' | 'keeps';
	/** Returns the meaning of a sent value, which is the value itself by default. Maps are converted key by key. */
	readonly means?: (sent: Loose) => unknown;
	/** Returns the value to send for a read value, which is the value itself by default. */
	readonly said?: (read: Loose) => unknown;
}

/** An object kind, with its fields and methods. */
export interface Kind {
	/** Returns the list's path. */
	readonly collection: (place: Place) => string;
	readonly fields: Readonly<Record<string, Field>>;
	/** Additional fields in a create, which cannot be changed later. */
	readonly constants?: Loose;
	/** Methods that change an object. */
	readonly methods: readonly ('PATCH' | 'PUT')[];
}

/** Returns values as they are in JSON: without -0, `__proto__` names or inexact numbers. */
function json<T>(values: fc.Arbitrary<T>): fc.Arbitrary<T> {
	return values.map((value) => exactNumbers(value) as T).filter((value) => !/__proto__/.test(JSON.stringify(value)));
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const name: Field = { values: text, required: true, empty: undefined, null: 'keeps' };
const description: Field = { values: text, empty: null, null: 'clears' };
const object = json(fc.dictionary(text, fc.jsonValue({ maxDepth: 2, stringUnit: 'grapheme' }), { maxKeys: 3 }));
const attributes: Field = { values: object, empty: null, null: 'clears' };
const optionalText: Field = description;

/** Returns a field with a list in any order, without repetitions. */
function listField(...items: readonly string[]): Field {
	return { values: fc.shuffledSubarray([...items]), empty: [], null: 'keeps' };
}

const key = fc.stringMatching(/^[A-Za-z0-9_-]{1,3}$/);
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const types = ['bool', 'number', 'string', 'time', 'array', 'json', 'object', 'object_array'];
const type = fc.constantFrom(...types);
const block = fc.record({ name: maybe(text), description: maybe(text), attributes: maybe(object) });

const actions: Field = {
	values: json(fc.dictionary(key, block, { maxKeys: 3 })),
	required: true,
	empty: undefined,
	null: 'keeps',
	means: (sent) => each(sent, (one, name) => ({ name, description: null, attributes: null, ...one })),
	said: (read) => each(read, ({ name, description, attributes }) => ({ name, description, attributes })),
};
const attributeBlocks: Field = {
	values: json(fc.dictionary(key, fc.record({ type, description: maybe(text) }), { maxKeys: 3 })),
	empty: {},
	null: 'clears',
	means: (sent) => each(sent, (one) => ({ description: null, ...one })),
	said: (read) => each(read, ({ type, description }) => ({ type, description })),
};
const relations: Field = {
	values: json(fc.dictionary(key, fc.constantFrom('document', 'folder', '__user'), { maxKeys: 3 })),
	empty: {},
	null: 'keeps',
	said: (read) => each(read, ({ resource }) => resource),
};

const when = fc.record({ no_direct_roles_on_object: fc.boolean() });
const rules = [
	{ role: 'owner', on_resource: 'folder', linked_by_relation: 'parent' },
	{ role: 'viewer', on_resource: 'document', linked_by_relation: 'copy' },
];
const byDefault = { no_direct_roles_on_object: false };
const granted_to: Field = {
	values: json(
		fc.record(
			{
				when,
				users_with_role: fc
					.tuple(fc.subarray(rules), maybe(when))
					.map(([some, when]) => some.map((rule) => ({ ...rule, when }))),
			},
			{ requiredKeys: [] },
		),
	),
	empty: null,
	null: 'clears',
	means: ({ users_with_role = [], when = byDefault }) => ({
		users_with_role: (users_with_role as readonly Loose[]).map((rule) => ({ when: byDefault, ...rule })),
		when,
	}),
	said: (read: Loose | null) =>
		read && {
			users_with_role: (read['users_with_role'] as readonly Loose[]).map(
				({ role, on_resource, linked_by_relation, when }) => ({ when, role, on_resource, linked_by_relation }),
			),
			when: read['when'],
		},
};

const mappingRule = { url_type: null, headers: {}, action: null, priority: null };
const mapping_rules: Field = {
	values: json(
		fc.uniqueArray(
			fc.record(
				{
					url: fc.constantFrom('https://example.com', '/a/{id}', '.*'),
					http_method: fc.constantFrom('get', 'post'),
					resource: key,
					url_type: fc.constantFrom('regex', null),
					headers: fc.dictionary(key, text, { maxKeys: 2 }),
					action: fc.option(key),
					priority: fc.option(fc.integer()),
				},
				{ requiredKeys: ['url', 'http_method', 'resource'] },
			),
			{ maxLength: 3, selector: ({ url, http_method }) => `${http_method} ${url}` },
		),
	),
	empty: [],
	null: 'keeps',
	// The type says record, but `sent` is a list.
	means: (sent) => (sent as unknown as readonly Loose[]).map((rule) => ({ ...mappingRule, ...rule })),
};

const email = fc.constantFrom('ann@example.com', 'BEN+1@mail.example.com');

function each(map: Loose, change: (value: Loose, name: string) => unknown): unknown {
	// The values in these maps are objects, except for the resources of relations, which only `said` uses.
	return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value as Loose, name)]));
}

const ofDocument = (place: Place) => `${place.schema}/resources/document`;
const attributeFields = { type: { ...name, values: type }, description };

/** Every object kind that can be created, read and changed by key. */
export const kinds: Readonly<Record<string, Kind>> = {
	resource: {
		collection: ({ schema }) => `${schema}/resources`,
		fields: {
			name,
			actions,
			attributes: attributeBlocks,
			relations,
			description,
			urn: optionalText,
			type_attributes: attributes,
		},
		methods: ['PATCH', 'PUT'],
	},
	'resource action': {
		collection: (place) => `${ofDocument(place)}/actions`,
		fields: { name, description, attributes },
		methods: ['PATCH'],
	},
	'action group': {
		collection: (place) => `${ofDocument(place)}/action_groups`,
		fields: { name, description, attributes, actions: listField('read', 'write', 'print') },
		methods: ['PATCH'],
	},
	'resource attribute': {
		collection: (place) => `${ofDocument(place)}/attributes`,
		fields: attributeFields,
		methods: ['PATCH'],
	},
	'user attribute': {
		collection: ({ schema }) => `${schema}/users/attributes`,
		fields: attributeFields,
		methods: ['PATCH'],
	},
	relation: {
		collection: (place) => `${ofDocument(place)}/relations`,
		fields: { name, description, subject_resource: { ...name, values: fc.constantFrom('document', 'folder') } },
		methods: [],
	},
	role: {
		collection: ({ schema }) => `${schema}/roles`,
		fields: {
			name,
			description,
			attributes,
			permissions: listField('document:read', 'document:write', 'folder:open'),
			extends: listField('viewer', 'editor'),
		},
		methods: ['PATCH'],
	},
	'resource role': {
		collection: (place) => `${ofDocument(place)}/roles`,
		fields: {
			name,
			description,
			attributes,
			granted_to,
			permissions: listField('read', 'write', 'print'),
			extends: listField('viewer', 'editor'),
		},
		methods: ['PATCH'],
	},
	user: {
		collection: ({ facts }) => `${facts}/users`,
		fields: {
			email: { values: email, empty: null, null: 'clears' },
			first_name: optionalText,
			last_name: optionalText,
			attributes: { ...attributes, empty: {} },
		},
		methods: ['PATCH', 'PUT'],
	},
	tenant: {
		collection: ({ facts }) => `${facts}/tenants`,
		fields: { name, description, attributes },
		methods: ['PATCH'],
	},
	'resource instance': {
		collection: ({ facts }) => `${facts}/resource_instances`,
		fields: { attributes: { ...attributes, empty: {} } },
		constants: { resource: 'document', tenant: 'default' },
		methods: ['PATCH'],
	},
	'user invite': {
		collection: ({ facts }) => `${facts}/user_invites`,
		fields: {
			email: { ...name, values: email },
			status: { values: fc.constantFrom('pending', 'approved'), empty: 'pending', null: 'keeps' },
			first_name: optionalText,
			last_name: optionalText,
		},
		constants: { role_id: idLike.role, tenant_id: idLike.tenant },
		methods: ['PATCH'],
	},
	'proxy config': {
		collection: ({ facts }) => `${facts}/proxy_configs`,
		fields: {
			name,
			mapping_rules,
			secret: { ...name, values: fc.stringMatching(/^[a-z]{1,8}$/) },
			auth_mechanism: { values: fc.constantFrom('Bearer', 'Basic'), empty: 'Bearer', null: 'keeps' },
		},
		methods: ['PATCH'],
	},
};

/** Creates the objects to which the values above refer. */
export async function furnishLaws({ http, schema, facts }: Place): Promise<void> {
	const made = async (path: string, body: object, below = schema) => {
		const { status, body: said } = await http.post(`${below}/${path}`, { name: 'Made', ...body });
		if (status !== 200) throw new Error(`${path}: ${JSON.stringify(said)}`);
	};
	await made('resources', { key: 'document', actions: { read: {}, write: {}, print: {} } });
	await made('resources', { key: 'folder', actions: { open: {} } });
	await made('roles', { key: 'viewer' });
	await made('roles', { key: 'editor' });
	await made('resources/document/relations', { key: 'parent', subject_resource: 'folder' });
	await made('resources/document/relations', { key: 'copy', subject_resource: 'document' });
	for (const key of ['viewer', 'editor']) await made('resources/document/roles', { key });
	await made('resources/folder/roles', { key: 'owner' });
	await made('roles', { key: idLike.role });
	await made('tenants', { key: idLike.tenant }, facts);
}
