import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Declaration } from '../../src/command/declaration.js';
import { root } from './root.js';

/** Returns the commands without subcommands, with their words. */
export function leafCommands(command: Declaration, words = ''): readonly (readonly [string, Declaration])[] {
	const visible = command.createHelp().visibleCommands(command);
	const inner = visible.filter((one) => one instanceof Declaration);
	if (inner.every((one) => one.name() === 'help')) return [[words.trim(), command]];
	return inner.filter((one) => one.name() !== 'help').flatMap((one) => leafCommands(one, `${words} ${one.name()}`));
}

/** Path to the command line documentation. */
export const commandPagePath = join(root, 'docs/operate/command-line.md');

/** Returns the page's section about a command, or the empty string if there is none. */
export function commandSection(words: string): string {
	const page = readFileSync(commandPagePath, 'utf8');
	const [, after = ''] = page.split(`\n## ${words}\n`);
	return after.split('\n## ')[0] ?? '';
}

/** Returns the JSON examples in the section about a command. */
export function documentedJson(words: string): readonly unknown[] {
	return [...commandSection(words).matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']) => JSON.parse(text));
}

/**
 * True if a value has the documented shape: objects have the same fields, and each array item matches any documented
 * item. A documented null matches every value, and a documented empty array matches every array.
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
