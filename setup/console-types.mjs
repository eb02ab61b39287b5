import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filesUnder } from './build.mjs';
import { digestFiles } from './digest.mjs';
import { execute } from './execute.mjs';
import { SetupError } from './progress.mjs';
import { makeStampedFolder } from './stamped-folder.mjs';
import { provideTestTools } from './test-tools.mjs';

/**
 * Type-checks `src/console` against the response types of both servers, which are generated into dist/api-types/ from
 * their OpenAPI documents. Does nothing if no source has changed. If the pages do not match the API, throws a
 * `SetupError` with the mismatch.
 * @param {string} root the package's folder, compiled
 * @param {(detail: string) => void} say
 */
export async function checkConsoleTypes(root, say) {
	const inputs = ['dist/.sources', 'package-lock.json', 'test/client/package-lock.json', 'setup/console-types.mjs'];
	await makeStampedFolder(root, 'dist/api-types', inputs, async (making) => {
		const tools = await provideTestTools(root, 'client', say);
		for (const [name, document] of await documents(root)) {
			writeFileSync(join(making, `${name}.d.ts`), await generateTypes(tools, document));
		}
	});
	const stamp = join(root, 'dist/.page-types');
	const pages = filesUnder(root, 'src/console').sort();
	const wanted = digestFiles(root, [...pages, ...inputs, 'tsconfig.json']);
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return say('up to date');
	const compiler = join(root, 'node_modules/typescript/bin/tsc');
	const parameters = [compiler, '-p', 'src/console', '--pretty', 'false'];
	const { code, output } = await execute(process.execPath, parameters, { cwd: root });
	if (code !== 0) throw new SetupError(`The pages do not compile:\n${output.trim()}`);
	mkdirSync(join(root, 'dist'), { recursive: true });
	writeFileSync(stamp, wanted);
	say('no complaints');
}

/** Returns the OpenAPI documents for API and decision point, by type name. */
async function documents(root) {
	const module = pathToFileURL(join(root, 'dist/test/support/documents.js')).href;
	const { apiDocument, decisionPointDocument } = await import(module);
	return [
		['management', await apiDocument()],
		['decision-point', await decisionPointDocument()],
	];
}

async function generateTypes(tools, document) {
	// The generator needs a different TypeScript version than the project, so it has a separate folder.
	const require = createRequire(join(tools, 'package.json'));
	const { default: generate, astToString } = require('openapi-typescript');
	return astToString(await generate(document));
}
