/** Random schemas, facts and keys. */
import fc from 'fast-check';
import type { Model, Schema } from '../../compiler/index.js';

/** Any well-formed text, with a liking for what could break out of a literal, a comment, a path or an object. */
export const text = fc.oneof(
	fc.string({ unit: 'binary' }),
	fc.string({
		unit: fc.constantFrom(
			'"',
			'\\',
			'`',
			'\n',
			'\r',
			'\t',
			'#',
			'{',
			'}',
			'[',
			']',
			'$',
			':',
			'-',
			'/',
			'.',
			' ',
			'\u2028',
		),
	}),
	fc.constantFrom('package', 'default', 'if', 'contains', 'true', '__proto__', 'data', 'input', '---', 'con', ''),
);

/** Few keys of one kind, so that random parts of a model meet each other. */
const key = (kind: string) => fc.constantFrom('a', 'b', '1', '__proto__').map((name) => `${kind}${name}`);

const unique = <T extends { readonly key: string }>(item: fc.Arbitrary<T>) =>
	fc.uniqueArray(item, { selector: ({ key }) => key, maxLength: 4 });

const named = { name: fc.constant('Name'), description: fc.constant(null) };
const action = fc.record({ key: key(''), ...named });
const resource = fc.record({ key: key(''), ...named, actions: unique(action) });
const role = fc.record({
	key: key('r'),
	...named,
	permissions: fc.array(fc.record({ resource: key(''), action: key('') }), { maxLength: 4 }),
	extends: fc.array(key('r'), { maxLength: 2 }),
});

/** Schemas without errors: permissions of what does not exist and extends that lead back are left out. */
export const schema: fc.Arbitrary<Schema> = fc
	.record({ resources: unique(resource), roles: unique(role) })
	.map(({ resources, roles }) => ({
		resources,
		roles: roles.map((own, index) => ({
			...own,
			permissions: own.permissions.filter((permission) =>
				resources.some(
					(type) => type.key === permission.resource && type.actions.some((a) => a.key === permission.action),
				),
			),
			extends: own.extends.filter((parent) => roles.findIndex((candidate) => candidate.key === parent) > index),
		})),
	}));

const user = key('u');
const tenant = fc.record({ key: key('t'), attributes: fc.dictionary(key('x'), fc.integer(), { maxKeys: 2 }) });
const assignment = fc.record({ user, role: key('r'), tenant: key('t') });

/** Models without errors; some assignments are of users and tenants that do not exist, and count for nothing. */
export const model: fc.Arbitrary<Model> = fc.record({
	schema,
	facts: fc.record({
		users: fc.uniqueArray(user),
		tenants: unique(tenant),
		role_assignments: fc.array(assignment, { maxLength: 12 }),
	}),
});
