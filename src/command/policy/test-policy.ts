import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { readTestResults, someFailed, testWords } from '../../../compiler/opa/test-results.js';
import { ConfigError } from '../../config.js';
import { findOpa } from '../../publish/find-opa.js';
import { checkTestText, runCheckTests } from '../check-tests.js';
import type { Told } from '../declaration.js';
import { onFile } from '../on-file.js';
import type { Session, SharedOptions } from '../session.js';
import { visible } from '../terminal.js';
import { innerFolder, isPolicyFolder, writePolicyFolder } from './policy-folder.js';
import { policyPlace, readFacts, readNewestPolicy } from './policy-source.js';

export interface TestOptions extends SharedOptions {
	/** Regular expression for test names. Only matching tests run. */
	readonly run?: string;
	/** True to test with the current facts. */
	readonly facts?: true;
	/** File with a draft. Only the check tests run, with the changes in the draft. */
	readonly draft?: string;
	/** True to list the grants that no check test covers. */
	readonly coverage?: true;
}

/** Exit code after SIGINT. */
const interrupted = 130;

/**
 * Tests an environment's policy. Runs the generated tests and the tests in a folder with `opa`, and the check tests on
 * the server. With a draft, runs only the check tests.
 */
export async function testPolicy(session: Session, options: TestOptions, folder?: string): Promise<Told> {
	if (options.draft !== undefined) {
		if (folder !== undefined || options.run !== undefined || options.facts) {
			throw new ConfigError('--draft: cannot be combined with a folder, --run or --facts');
		}
		const ran = await runCheckTests(session, options.draft);
		return { text: checkTestText(ran, options.coverage), json: ran, exit: ran.failed === 0 ? 0 : 1 };
	}
	const { OPA_PATH = '', PATH = '' } = session.variables;
	const opa = await findOpa(OPA_PATH === '' ? null : OPA_PATH, PATH);
	const place = await policyPlace(session);
	const { files, schema_revision } = await readNewestPolicy(place);
	const facts = options.facts ? [await readFacts(place)] : [];
	const work = onFile(tmpdir(), () => mkdtempSync(join(tmpdir(), 'regolith-policy-')));
	// The `exit` listener also cleans up if the user interrupts the tests.
	process.once('exit', () => rmSync(work, { recursive: true, force: true }));
	process.once('SIGINT', () => process.exit(interrupted));
	try {
		if (folder !== undefined) copyTests(folder, work);
		writePolicyFolder(work, [...files, ...facts]);
		const tests = await runTests(opa, work, options.run);
		const failed = tests.filter(({ passed }) => !passed);
		const lines = failed.map(({ name, file, row, error }) =>
			visible(`FAIL  ${name}  ${file}:${row}${error === null ? '' : `  ${error}`}`),
		);
		const summary = `${tests.length - failed.length} of ${tests.length} tests pass, schema revision ${schema_revision}`;
		const checks = options.run === undefined ? await runCheckTests(session) : null;
		return {
			text: `${[...lines, summary].join('\n')}\n${checks === null ? '' : checkTestText(checks, options.coverage)}`,
			json: {
				schema_revision,
				passed: tests.length - failed.length,
				failed: failed.length,
				tests,
				check_tests: checks,
			},
			exit: failed.length === 0 && (checks?.failed ?? 0) === 0 ? 0 : 1,
		};
	} finally {
		rmSync(work, { recursive: true, force: true });
	}
}

/**
 * Copies the files that `opa` reads, except a policy that an earlier command wrote into the folder. Throws
 * `ConfigError` on failure.
 */
function copyTests(folder: string, work: string): void {
	if (!onFile(folder, () => statSync(folder)).isDirectory()) {
		throw new ConfigError(`${visible(folder)} is not a folder. Pass the folder with your tests.`);
	}
	const own = join(folder, innerFolder);
	if (onFile(own, () => existsSync(own) && !isPolicyFolder(own))) {
		throw new ConfigError(`${visible(own)} conflicts with the policy folder. Rename or move it.`);
	}
	const isSkipped = (path: string) => /^(\..+|node_modules)$/.test(basename(path)) || isPolicyFolder(path);
	const filter = (path: string) => path === folder || !isSkipped(path);
	onFile(folder, () => cpSync(folder, work, { recursive: true, dereference: true, filter }));
}

/** Timeout for all tests together, in milliseconds. */
const timeout = 600_000;
const maxOutputLength = 64 * 1024 * 1024;

async function runTests(opa: string, cwd: string, pattern: string | undefined) {
	const words = [...testWords, ...(pattern === undefined ? [] : [`--run=${pattern}`])];
	const output = await new Promise<string>((resolve, reject) => {
		execFile(opa, words, { cwd, timeout, maxBuffer: maxOutputLength }, (error, stdout, stderr) => {
			if (error === null || error.code === someFailed) resolve(stdout);
			else reject(new ConfigError(`opa failed to run the tests: ${(stderr || stdout || error.message).trim()}`));
		});
	});
	return readTestResults(output);
}
