import { isArray } from '../json.js';
import type { Json } from '../model.js';
import { Fragment, rego } from './rego.js';
import { type Table, table } from './table.js';

/** Maximum length of a single-line value, in characters. */
const maxLineLength = 80;

/**
 * Writes a JSON value as Rego, on a single line if it is short. `indent` is the indent of the first line. Numbers are
 * written in JSON notation, as in the data document.
 */
export function jsonValue(value: Json, indent = ''): Fragment {
	const line = inLine(value);
	return line.length > maxLineLength ? table(valueTable(value), indent) : new Fragment(line);
}

function inLine(value: Json): string {
	if (typeof value === 'string') {
		return rego`${value}`.text;
	}
	if (value === null || typeof value !== 'object') {
		return JSON.stringify(value);
	}
	if (isArray(value)) {
		return `[${value.map(inLine).join(', ')}]`;
	}
	const members = Object.entries(value).map(([key, member]) => `${rego`${key}`.text}: ${inLine(member)}`);
	return `{${members.join(', ')}}`;
}

function valueTable(value: Json): Table {
	if (value === null || typeof value !== 'object') {
		return new Fragment(inLine(value));
	}
	return isArray(value)
		? { items: value.map(valueTable) }
		: { members: Object.entries(value).map(([key, member]) => [key, valueTable(member)]) };
}
