import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import type { Declaration } from '../../src/command/declaration.js';
import { createProgram } from '../../src/command/program.js';
import { commandPagePath, commandSection, hasShape, leafCommands } from '../support/command-page.js';

/** `docs/operate/command-line.md` matches the declared commands; `UPDATE=1` rewrites its tables. */

const commands = leafCommands(createProgram({}));

/** Returns a command's table: arguments, options and exit codes. */
function commandTable(words: string, command: Declaration): string {
	const help = command.createHelp();
	const options = help.visibleOptions(command).filter(({ long }) => long !== '--help');
	const rows = [
		...command.registeredArguments.map((one) => [help.argumentTerm(one), help.argumentDescription(one)]),
		...options.map((option) => [help.optionTerm(option), help.optionDescription(option)]),
		...[...command.exitCodes].sort(([a], [b]) => a - b).map(([code, meaning]) => [`exit ${code}`, meaning]),
	];
	const lines = rows.map(([term = '', meaning = '']) => `| \`${term}\` | ${meaning.replaceAll('|', '\\|')} |`);
	return [`| \`regolith ${words} ${command.usage()}\` | ${command.description()} |`, '|---|---|', ...lines].join('\n');
}

const tablePattern = /^\|.*\|$(?:\n^\|.*\|$)*/m;

test('the page has exactly one section per command, in the order of the help', (t) => {
	const page = readFileSync(commandPagePath, 'utf8');
	const [, reference = ''] = page.split('\n# Commands\n');
	const headings = [...reference.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
	t.deepEqual(
		headings,
		commands.map(([words]) => words),
	);
});

for (const [words, command] of commands) {
	test.serial(`the page describes \`${words}\` as it is declared`, (t) => {
		const expected = commandTable(words, command);
		const section = commandSection(words);
		const [table = ''] = tablePattern.exec(section) ?? [];
		if (process.env['UPDATE'] === '1' && table !== expected) {
			const page = readFileSync(commandPagePath, 'utf8');
			const updated = section.replace(tablePattern, () => expected);
			writeFileSync(
				commandPagePath,
				page.replace(section, () => updated),
			);
		} else t.is(table, expected);
		const takesJson = command.options.some(({ long }) => long === '--json');
		t.is(/^```json$/m.test(section), takesJson && words !== 'export', 'an example of JSON');
		t.pass();
	});
}

test('shapes are compared field by field', (t) => {
	const documented = { a: 'x', list: [{ b: 1 }, { c: true }], any: null };
	t.true(hasShape({ a: 'y', list: [{ c: false }, { b: 2 }], any: { d: 1 } }, documented));
	t.true(hasShape({ a: null, list: [], any: null }, documented));
	for (const other of [{ a: 1, list: [], any: 1 }, { a: 'y', list: [{ d: 1 }], any: 1 }, { a: 'y', list: [] }, 'a']) {
		t.false(hasShape(other, documented));
	}
});
