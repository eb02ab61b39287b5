/*
 * Checks OpenAPI documents with external tools: `node check.mjs <tool folder> <folder> <file.json>...`. Lints each file
 * in the folder, generates client types from it, and compiles `calls/` with these types. Prints the problems as JSON.
 */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [tools, folder, ...files] = process.argv.slice(2);
const require = createRequire(join(tools, 'package.json'));
const calls = join(dirname(fileURLToPath(import.meta.url)), 'calls');

const { createConfig, lint } = require('@redocly/openapi-core');
const { default: generate, astToString } = require('openapi-typescript');
const ts = require('typescript');

const config = await createConfig({ extends: ['recommended-strict'] });
const problems = [];
for (const file of files) {
	const found = await lint({ ref: join(folder, file), config });
	for (const { ruleId, message, location } of found) {
		problems.push({ file, rule: ruleId, at: location[0]?.pointer ?? '', message });
	}
	const types = await generate(JSON.parse(readFileSync(join(folder, file), 'utf8')));
	writeFileSync(join(folder, `${basename(file, '.json')}.ts`), astToString(types));
}

// The calls are compiled in the same folder as the types and the library that they import.
symlinkSync(join(tools, 'node_modules'), join(folder, 'node_modules'), 'dir');
const sources = files.map((file) => `${basename(file, '.json')}-calls.ts`);
for (const source of sources) writeFileSync(join(folder, source), readFileSync(join(calls, source)));
const program = ts.createProgram(
	sources.map((source) => join(folder, source)),
	{
		module: ts.ModuleKind.NodeNext,
		moduleResolution: ts.ModuleResolutionKind.NodeNext,
		target: ts.ScriptTarget.ES2022,
		lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
		types: [],
		strict: true,
		noUncheckedIndexedAccess: true,
		exactOptionalPropertyTypes: true,
		skipLibCheck: true,
		noEmit: true,
		allowImportingTsExtensions: true,
	},
);
const errors = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
	const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
	return `${basename(file?.fileName ?? '')}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
});
console.log(JSON.stringify({ problems, errors }));
