import { writeImage } from './heap-image.js';
import { InputFrames } from './input-frame.js';
import { isSameJson } from './is-same-json.js';
import type { ModuleMemory } from './module-memory.js';
import { utf8Bytes } from './text-bytes.js';

/**
 * True if a module has the `heap-layout` layout. Such a module reads, changes and writes values written by this code
 * like values that the module parsed. Uses memory from `start`.
 */
export function hasKnownLayout(memory: ModuleMemory, start: number): boolean {
	try {
		const { root, end } = writeImage(memory, start, utf8Bytes(JSON.stringify(document)));
		memory.free = end;
		if (!isSameJson(JSON.parse(memory.dump(root)), document)) return false;
		memory.free = end;
		for (const [path, value] of changes) {
			memory.patch(root, { path: JSON.stringify(path), value: value === undefined ? value : JSON.stringify(value) });
		}
		return isSameJson(JSON.parse(memory.dump(root)), changed);
	} catch {
		// Any failure means that the module has a different layout.
		return false;
	}
}

/** Creates frames for check inputs, from `start`; `undefined` if the module cannot read their contents. */
export function makeFrames(memory: ModuleMemory, start: number, entrypoint: number): InputFrames | undefined {
	try {
		const frames = new InputFrames(memory, start, entrypoint);
		const alike = inputs.every((input) => isSameJson(JSON.parse(frames.dump(input, frames.end)), input));
		return alike ? frames : undefined;
	} catch {
		return undefined;
	}
}

const inputs = [
	{ user: { key: 'é' }, action: '', resource: { type: '"', tenant: 'tenant' }, time: 1_234_567_890_123 },
	{ user: { key: 'user' }, action: 'read', resource: { type: 'type', tenant: 'tenant', key: '😀' }, time: 0 },
	{
		user: { key: 'user' },
		action: 'read',
		resource: { type: 'type', tenant: 'tenant', key: 'key' },
		time: Number.MIN_SAFE_INTEGER,
	},
] as const;

const members = (count: number, from = 0) =>
	Object.fromEntries(Array.from({ length: count }, (_, index) => [`member ${from + index}`, null]));

const document = {
	constants: { null: null, true: true, false: false },
	numbers: { zero: 0, negative: -1.5, large: 12_345_678_901, array: [1, [2], {}] },
	strings: { '': '', escaped: 'a "b"\n\u0000', 'é😀': 'é😀', long: 'long '.repeat(40) },
	table: members(20),
	small: members(3),
	gone: { table: members(20), array: [null] },
	empty: {},
};

/** Patches that free and reuse blocks of every size, grow a table, and create tables. */
const changes: readonly (readonly [readonly string[], unknown?])[] = [
	[['gone']],
	[['constants', 'null']],
	[['numbers', 'zero']],
	[['strings', 'é😀']],
	...Object.keys(members(20)).map((key) => [['table', key]] as const),
	...Object.keys(members(9, 3)).map((key) => [['small', key], null] as const),
	[['constants', 'true'], 'no longer'],
	[['numbers', 'large'], { instead: [1, 2, 3] }],
	[['strings', 'long'], members(20)],
	[['empty', 'a', 'b'], null],
];

const changed = {
	constants: { true: 'no longer', false: false },
	numbers: { negative: -1.5, large: { instead: [1, 2, 3] }, array: [1, [2], {}] },
	strings: { '': '', escaped: 'a "b"\n\u0000', long: members(20) },
	table: {},
	small: members(12),
	empty: { a: { b: null } },
};
