/**
 * A second implementation of the condition semantics. It works directly on the source conditions, without the compiler.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../compiler/model.js';
import { patternMatches, type Subject } from '../support/conditions.js';
import { durations, holdsInexact } from './conditions.js';

type Members = Readonly<Record<string, Json>>;

/** Looks up attributes, and records whether a type error was found. A type error makes the whole condition fail. */
interface Sight {
	find(name: string): Json | undefined;
	refer(name: string): Json | undefined;
	readonly seen: { mistyped: boolean };
	readonly now: number;
	readonly related: Members;
}

/** True if valid conditions select a subject. */
export function selects(conditions: Json, subject: Subject): boolean {
	const seen = { mistyped: false };
	const find = (name: string) => {
		const [first = '', ...path] = name.split('.');
		const objects: Members = { ...subject, subject: subject.user };
		return lead(objects[first], path);
	};
	return (
		whole(conditions, { find, refer: find, seen, now: subject.now, related: subject.related ?? {} }) && !seen.mistyped
	);
}

function whole(conditions: Json, sight: Sight): boolean {
	return Object.keys(members(conditions)).length === 0 || holds(conditions, undefined, sight);
}

/**
 * Evaluates every part, even if the result is already known, because all type errors must be found. `name` is the
 * enclosing attribute.
 */
function holds(condition: Json, name: string | undefined, sight: Sight): boolean {
	const [[key, value]] = Object.entries(members(condition)) as [[string, Json]];
	const inside = () => items(value).map((one) => holds(one, name, sight));
	switch (key) {
		case 'allOf':
		case 'and':
			return !inside().includes(false);
		case 'anyOf':
		case 'or':
			return inside().includes(true);
		case 'not':
			return !holds(value, name, sight);
		default:
			return name === undefined ? holds(value, key, sight) : compares(key, name, value, sight);
	}
}

function compares(operator: string, name: string, operand: Json, sight: Sight): boolean {
	const attribute = sight.find(name);
	if (operator === 'is-null') return (attribute === undefined) === operand;
	if (operator.endsWith('_match')) return matches(operator, attribute, members(operand), sight);
	const ref = kind(operand) === 'object' ? members(operand)['ref'] : undefined;
	const other = ref === undefined ? operand : sight.refer(String(ref));
	const wrong = isWrong(operator, attribute, other);
	if (wrong) sight.seen.mistyped = true;
	return !wrong && attribute !== undefined && other !== undefined && answer(operator, attribute, other, sight.now);
}

function isWrong(operator: string, left: Json | undefined, right: Json | undefined): boolean {
	const not = (value: Json | undefined, ...kinds: readonly string[]) =>
		value !== undefined && !kinds.includes(kind(value));
	const inexact = [left, right].some((value) => value !== undefined && holdsInexact(value));
	switch (operator) {
		case 'equals':
		case 'not-equals':
			return inexact;
		case 'in':
		case 'not-in':
			return inexact || not(right, 'array');
		case 'array_contains':
			return inexact || not(left, 'array');
		case 'array_subset':
		case 'array_superset':
		case 'array_intersect':
			return inexact || not(left, 'array') || not(right, 'array');
		case 'within-last':
		case 'older-than':
			return left !== undefined && !isTime(left);
		case 'in-cidr':
			return (left !== undefined && version(left) === undefined) || (right !== undefined && !areRanges(right));
		case 'between': {
			if (inexact) return true;
			const ends = right === undefined ? [] : items(right);
			const kinds = new Set(ends.map(kind));
			const range = ends.length === 2 && kinds.size === 1 && ['number', 'string'].some((one) => kinds.has(one));
			if (right !== undefined && !(kind(right) === 'array' && range)) return true;
			return right === undefined ? not(left, 'number', 'string') : not(left, ...kinds);
		}
		case 'greater-than':
		case 'greater-than-equals':
		case 'less-than':
		case 'less-than-equals':
			if (inexact || not(left, 'number', 'string') || not(right, 'number', 'string')) return true;
			return left !== undefined && right !== undefined && kind(left) !== kind(right);
		default:
			return not(left, 'string') || not(right, 'string');
	}
}

function answer(operator: string, left: Json, right: Json, now: number): boolean {
	const within = (inner: Json, outer: Json) => items(inner).every((one) => items(outer).some((two) => same(one, two)));
	switch (operator) {
		case 'equals':
			return same(left, right);
		case 'not-equals':
			return !same(left, right);
		case 'greater-than':
			return sign(left, right) === 1;
		case 'greater-than-equals':
			return sign(left, right) !== -1;
		case 'less-than':
			return sign(left, right) === -1;
		case 'less-than-equals':
			return sign(left, right) !== 1;
		case 'between':
			return sign(left, items(right)[0] ?? null) !== -1 && sign(left, items(right)[1] ?? null) !== 1;
		case 'in-cidr':
			return ranges(right).some((range) => covers(`${range}`, `${left}`));
		case 'within-last':
			return digits(left) >= digits(timeAgo(now, right));
		case 'older-than':
			return digits(left) < digits(timeAgo(now, right));
		case 'in':
			return items(right).some((item) => same(item, left));
		case 'not-in':
			return !items(right).some((item) => same(item, left));
		case 'contains':
		case 'string_contains':
			return `${left}`.split(`${right}`).length > 1 || right === '';
		case 'starts-with':
			return `${left}`.slice(0, `${right}`.length) === right;
		case 'ends-with':
			return right === '' || `${left}`.slice(-`${right}`.length) === right;
		case 'matches':
			return patternMatches(`${right}`, `${left}`);
		case 'array_contains':
			return items(left).some((item) => same(item, right));
		case 'array_subset':
			return within(left, right);
		case 'array_superset':
			return within(right, left);
		case 'array_intersect':
			return items(left).some((one) => items(right).some((two) => same(one, two)));
		default:
			throw new Error(`the oracle does not implement ${operator}`);
	}
}

function isTime(value: Json): boolean {
	const letters = [...`${value}`];
	const form = [...'dddd-dd-ddTdd:dd:dd.dddZ'];
	const fits = (letter: string, index: number) =>
		form[index] === 'd' ? letter >= '0' && letter <= '9' : letter === form[index];
	return kind(value) === 'string' && letters.length === form.length && letters.every(fits);
}

function timeAgo(now: number, duration: Json): string {
	const length = durations.get(`${duration}`);
	if (length === undefined) throw new Error(`the oracle does not know the duration ${JSON.stringify(duration)}`);
	return new Date(now - length).toISOString();
}

function digits(value: Json): bigint {
	return BigInt(`${value}`.replaceAll(/\D/g, ''));
}

/** Address family; `undefined` unless the value is an address in the accepted notations. */
function version(value: Json): 'ipv4' | 'ipv6' | undefined {
	const text = plain(`${value}`);
	if (typeof value !== 'string' || text.includes('%')) return undefined;
	if (isIPv4(text)) return 'ipv4';
	const list = new BlockList();
	list.addSubnet('::ffff:0:0', 96, 'ipv6');
	return isIPv6(text) && !text.includes('.') && !list.check(text, 'ipv6') ? 'ipv6' : undefined;
}

/** Turns an IPv4-mapped address into its IPv4 address. */
function plain(text: string): string {
	return text.replace(/^::ffff:(?=[\d.]*$)/i, '');
}

function ranges(value: Json): readonly Json[] {
	return typeof value === 'string' ? [value] : items(value);
}

function areRanges(value: Json): boolean {
	if (kind(value) !== 'string' && kind(value) !== 'array') return false;
	return ranges(value).every((range) => {
		const [, first = '', length = ''] =
			/^([^/]*)\/(0|[1-9]\d*)$/.exec(kind(range) === 'string' ? `${range}` : '') ?? [];
		const family = plain(first) === first ? version(first) : undefined;
		return family !== undefined && length !== '' && Number(length) <= (family === 'ipv4' ? 32 : 128);
	});
}

function covers(range: string, address: string): boolean {
	const [first = '', length] = range.split('/');
	const [family, own] = [version(first), version(address)];
	if (family === undefined || family !== own) return false;
	const list = new BlockList();
	list.addSubnet(first, Number(length), family);
	return list.check(plain(address), family);
}

function matches(operator: string, attribute: Json | undefined, operand: Members, sight: Sight): boolean {
	const { match = null, fk_resource_type: type } = operand;
	if (attribute === undefined) return false;
	if (type !== undefined) {
		const given = operator === 'object_match' ? [attribute] : items(attribute);
		const isList = kind(attribute) === 'array' || operator === 'object_match';
		if (!isList || given.some((key) => kind(key) !== 'string')) sight.seen.mistyped = true;
		const instances = given.map((key) => {
			const found = Object.entries(sight.related).find(([name]) => name === `${type}:${key}`);
			return found?.[1] ?? {};
		});
		if (!isList) return false;
		const shared = operator === 'object_match' ? 'all_match' : operator;
		return matches(shared, instances, { match }, sight);
	}
	const { seen } = sight;
	if (kind(attribute) !== (operator === 'object_match' ? 'object' : 'array')) {
		seen.mistyped = true;
		return false;
	}
	const things = operator === 'object_match' ? [attribute] : items(attribute);
	const found = things.map((thing) => {
		if (kind(thing) !== 'object') seen.mistyped = true;
		return whole(match, { ...sight, find: (name) => lead(thing, name.split('.')) });
	});
	return operator === 'any_match' ? found.includes(true) : !found.includes(false);
}

function lead(value: Json | undefined, path: readonly string[]): Json | undefined {
	const found = path.reduce<Json | undefined>(
		(at, name) =>
			at !== undefined && kind(at) === 'object'
				? Object.entries(members(at)).find(([key]) => key === name)?.[1]
				: undefined,
		value,
	);
	return found ?? undefined;
}

function same(left: Json, right: Json): boolean {
	return isDeepStrictEqual(JSON.parse(JSON.stringify(left)), JSON.parse(JSON.stringify(right)));
}

/** Compares strings by their UTF-8 bytes, which gives the code point order. */
function sign(left: Json, right: Json): number {
	if (typeof left === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(`${right}`));
	return Math.sign(Number(left) - Number(right));
}

function kind(value: Json): string {
	return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function items(value: Json): readonly Json[] {
	return Array.isArray(value) ? value : [];
}

function members(value: Json): Members {
	return kind(value) === 'object' ? (value as Members) : {};
}
