/** Bodies that are expensive for a careless parser: a few JSON shapes of any size, at every place in a body. */

import type { Body } from './bodies.js';

/** A hostile body with its raw text. */
export interface HostileBody {
	/** The shape and its place, such as `wide in attributes`. The place is omitted if the shape is the whole body. */
	readonly what: string;
	/** The shape without its place. */
	readonly shape: string;
	readonly text: string;
}

type Member = (index: number) => string;

/** Returns a list or object with as many items or fields as fit into `bytes`. */
function filled(bytes: number, [open, close]: readonly [string, string], member: Member): string {
	const members: string[] = [];
	for (let left = bytes - 2; left > 0; ) {
		const next = member(members.length);
		left -= next.length + 1;
		if (left >= 0) members.push(next);
	}
	return `${open}${members.join()}${close}`;
}

/** Returns an object with `size` fields. Names are unique across objects. */
function wideObject(index: number, size: number): string {
	return `{${Array.from({ length: size }, (_, member) => `"k${index * size + member}":0`).join()}}`;
}

const list = ['[', ']'] as const;
const object = ['{', '}'] as const;

/** Shapes, keyed by name. Each function takes a size in bytes. */
export const shapes: Readonly<Record<string, (bytes: number) => string>> = {
	'empty objects': (bytes) => filled(bytes, list, () => '{}'),
	'empty lists': (bytes) => filled(bytes, list, () => '[]'),
	'objects with unique names': (bytes) => filled(bytes, list, (index) => `{"k${index}":0}`),
	numbers: (bytes) => filled(bytes, list, () => '0'),
	'infinite numbers': (bytes) => filled(bytes, list, () => '1e999'),
	'numbers of 400 digits': (bytes) => filled(bytes, list, () => '7'.repeat(400)),
	'one long number': (bytes) => '7'.repeat(bytes),
	texts: (bytes) => filled(bytes, list, (index) => `"${index}"`),
	'lone surrogates': (bytes) => filled(bytes, list, () => '"\\ud800"'),
	'pairs of surrogates': (bytes) => filled(bytes, list, () => '"\\ud83d\\ude00"'),
	wide: (bytes) => filled(bytes, object, (index) => `"k${index}":0`),
	'wide, with invalid keys': (bytes) => filled(bytes, object, (index) => `"k ${index}":{}`),
	'wide, with infinite numbers': (bytes) => filled(bytes, object, (index) => `"k${index}":1e999`),
	'many wide objects': (bytes) => filled(bytes, list, (index) => wideObject(index, 1_000)),
	'a repeated name': (bytes) => filled(bytes, object, () => '"a":{}'),
	'a long name': (bytes) => `{"${'x'.repeat(bytes - 10)}":0}`,
	'a long text': (bytes) => `"${'x'.repeat(bytes - 2)}"`,
	'a long text of escapes': (bytes) => `"${'\\u0001'.repeat(Math.floor(bytes / 6))}"`,
	'deep lists': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
	'deep objects': (bytes) => `${'{"a":'.repeat(bytes / 6)}0${'}'.repeat(bytes / 6)}`,
	'unclosed lists': (bytes) => '['.repeat(bytes),
	'many lists of the maximum depth': (bytes) => filled(bytes, list, () => '['.repeat(90) + ']'.repeat(90)),
};

/** Yields each shape as the whole body, as the body's list, and in turn as each field with all other fields valid. */
export function* hostileBodies(body: Body, values: ReadonlyMap<string, string>): Iterable<HostileBody> {
	for (const [shape, value] of values) {
		yield { shape, what: shape, text: value };
		if (body.many !== undefined && body.many !== 'bare') {
			yield { shape, what: `${shape} in ${body.many}`, text: `{"${body.many}":${value}}` };
		}
		for (const field of Object.keys(body.fields)) {
			const { [field]: _, ...others } = body.base;
			const rest = Object.entries(others).map(([name, other]) => `${JSON.stringify(name)}:${JSON.stringify(other)}`);
			const item = `{${[...rest, `"${field}":${value}`].join()}}`;
			yield { shape, what: `${shape} in ${field}`, text: wrapped(body, item) };
		}
	}
}

function wrapped({ many }: Body, item: string): string {
	if (many === undefined) return item;
	return many === 'bare' ? `[${item}]` : `{"${many}":[${item}]}`;
}

const check: Body = {
	base: { user: 'ann', action: 'read', resource: 'document' },
	fields: { user: 'subject!', action: 'text!', resource: 'subject!', context: 'object', sdk: 'text' },
};

/** Decision point bodies, keyed by endpoint name. */
export const decisionBodies: Readonly<Record<string, Body>> = {
	check,
	checkMany: { ...check, many: 'bare' },
	listUserPermissions: {
		base: { user: 'ann' },
		fields: {
			user: 'subject!',
			tenants: 'references',
			resources: 'references',
			resource_types: 'references',
			context: 'object',
		},
	},
	listUserTenants: { base: { user: 'ann' }, fields: { user: 'subject!', context: 'object' } },
	listAuthorizedUsers: {
		base: { action: 'read', resource: 'document' },
		fields: { action: 'text!', resource: 'subject!', context: 'object', sdk: 'text' },
	},
};
