import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Declaration } from '../../src/command/declaration.js';
import { root } from './root.js';

/** All commands that do something, by the words that lead to them. */
export function leafCommands(command: Declaration, words = ''): readonly (readonly [string, Declaration])[] {
	const visible = command.createHelp().visibleCommands(command);
	const inner = visible.filter((one) => one instanceof Declaration);
	if (inner.every((one) => one.name() === 'help')) return [[words.trim(), command]];
	return inner.filter((one) => one.name() !== 'help').flatMap((one) => leafCommands(one, `${words} ${one.name()}`));
}

/** The page that documents the command line. */
export const commandPagePath = join(root, 'docs/command-line.md');

/** The section of the page about a command, by the words that lead to it; empty if there is none. */
export function commandSection(words: string): string {
	const page = readFileSync(commandPagePath, 'utf8');
	const [, after = ''] = page.split(`\n## ${words}\n`);
	return after.split('\n## ')[0] ?? '';
}

/** The examples of JSON in the section about a command. */
export function documentedJson(words: string): readonly unknown[] {
	return [...commandSection(words).matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']) => JSON.parse(text));
}

/**
 * Whether a value has the shape of a documented one: objects the same members, items of arrays the shape of any
 * documented item. Null stands for any value, and an empty array for any array.
 */
export function hasShape(value: unknown, documented: unknown): boolean {
	if (value === null || documented === null) return true;
	if (Array.isArray(value) && Array.isArray(documented)) {
		return documented.length === 0 || value.every((item) => documented.some((shape) => hasShape(item, shape)));
	}
	if (!isObject(value) || !isObject(documented)) return typeof value === typeof documented;
	const names = Object.keys(value).sort();
	const members = (name: string) => hasShape(value[name], documented[name]);
	return JSON.stringify(names) === JSON.stringify(Object.keys(documented).sort()) && names.every(members);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
