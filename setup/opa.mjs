import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { digestFiles } from './digest.mjs';
import { execute, findAllOnPath, findOnPath, isExecutable } from './execute.mjs';
import { SetupError } from './progress.mjs';
import { compareVersions, isCompatible, parseVersion } from './version.mjs';

/** The two Go programs, each with its file name in `.tools` and its build tags. */
const programs = {
	/** The complete opa, with our command `opa resident`. */
	whole: { file: 'opa', tags: [] },
	/** The partial opa for the product, which builds in half the time (compiler/opa/part.go). */
	part: { file: 'regolith-opa', tags: ['-tags=part'] },
};

/** Maximum time in milliseconds for a program to print its version. */
const versionTimeout = 60_000;

/**
 * Finds an opa compatible with the pinned version: `OPA_PATH`, else an earlier build (because our build compiles
 * policies faster than a stock opa), else the first sufficiently new opa on PATH. If there is no such opa, checks
 * whether Go can build it.
 * @param {string} root the package's folder
 * @param {keyof typeof programs} wanted the program to build
 * @param {NodeJS.ProcessEnv} [environment]
 * @returns {Promise<{found?: {path: string, detail: string}, provide: (say: (detail: string) => void) =>
 *   Promise<string>}>} `found` if no build is needed; `provide` returns the absolute program path, after a build if
 *   needed
 * @throws SetupError if `OPA_PATH` is not a program or is an old version, or if neither opa nor Go is
 *   available
 */
export async function prepareOpa(root, wanted, environment = process.env) {
	const pin = readPin(root);
	const found = await chooseOpa(root, wanted, pin, environment);
	if (found === undefined) {
		await requireGo(root, pin, environment);
		return { provide: (say) => buildOpa(root, say, wanted, pin, environment) };
	}
	const provide = async (say) => {
		say(found.detail);
		return found.path;
	};
	return { found, provide };
}

async function chooseOpa(root, wanted, pin, environment) {
	if (environment.OPA_PATH) return configuredOpa(resolve(environment.OPA_PATH), pin);
	const built = await builtOpa(root, wanted, pin, environment);
	if (built !== undefined) return built;
	for (const { path, version } of await opasOnPath(environment)) {
		if (version && isCompatible(version, pin.opa)) return { path, detail: `${version.join('.')} from PATH` };
	}
	return undefined;
}

/** Finds every `opa` on PATH, with its version if it has one. */
function opasOnPath(environment) {
	return Promise.all(
		findAllOnPath('opa', environment.PATH).map(async (path) => ({ path, version: await opaVersion(path) })),
	);
}

async function builtOpa(root, wanted, pin, environment) {
	// The complete opa can be used instead of the partial opa.
	for (const program of wanted === 'whole' ? [programs.whole] : [programs.whole, programs.part]) {
		const own = join(root, '.tools', program.file);
		const built = existsSync(own) ? await opaVersion(own) : undefined;
		if (!built || compareVersions(built, pin.opa) !== 0) continue;
		// A program built from older sources may lack a command, but nothing else. Without Go, it is therefore good enough.
		const isOutdated = readStamp(own) !== sourceDigest(root) && findOnPath('go', environment.PATH) !== undefined;
		if (!isOutdated) return { path: own, detail: `${built.join('.')} up to date` };
	}
	return undefined;
}

/** Reads the pinned versions from the package in this folder. */
function readPin(root) {
	return parsePin(readFileSync(join(root, 'compiler/opa/go.mod'), 'utf8'));
}

/**
 * Reads the pinned OPA version and the required Go version from a go.mod.
 * @param {string} text
 * @returns {{opa: readonly [number, number, number], go: readonly [number, number, number]}}
 */
export function parsePin(text) {
	const opa = parseVersion(/^\s*(?:require\s+)?github\.com\/open-policy-agent\/opa\s+(v\S+)/m.exec(text)?.[1] ?? '');
	const go = parseVersion(/^go\s+(\S+)/m.exec(text)?.[1] ?? '');
	if (!opa || !go) throw new SetupError('compiler/opa/go.mod contains no version of OPA or of Go');
	return { opa, go };
}

async function configuredOpa(path, pin) {
	const version = await opaVersion(path);
	if (version && isCompatible(version, pin.opa)) return { path, detail: `${version.join('.')} from OPA_PATH` };
	const [major, minor] = pin.opa;
	const problem = version ? `${path} is opa ${version.join('.')}` : whyNoOpa(path);
	throw new SetupError(
		`OPA_PATH: ${problem}; set it to an opa, version ${major}.${minor} or a newer ${major}.x, or unset it`,
	);
}

function whyNoOpa(path) {
	if (!existsSync(path)) return `there is no program at ${path}`;
	if (!statSync(path).isFile()) return `${path} is a folder`;
	return isExecutable(path) ? `${path} does not run as opa` : `${path} may not be executed`;
}

async function opaVersion(program) {
	const options = { timeout: versionTimeout, killSignal: 'SIGKILL' };
	const { code, stdout } = await execute(program, ['version'], options);
	return code === 0 ? parseVersion(/^Version:\s*(\S+)/m.exec(stdout)?.[1] ?? '') : undefined;
}

/**
 * Builds the pinned OPA version with Go, including our command `opa resident`.
 * @throws SetupError if the build fails
 */
async function buildOpa(root, say, wanted, pin, environment) {
	const { file, tags } = programs[wanted];
	const target = join(root, '.tools', file);
	const source = sourceFolder(root);
	const env = goEnvironment(environment);
	const version = pin.opa.join('.');
	say(`building ${version} with Go, only once`);
	const packages = await countPackages(source, tags, env);
	let compiled = 0;
	const heard = (text) => {
		compiled += text.split('\n').length - 1;
		if (packages > 0) say(`building ${version}, only once: ${Math.min(compiled, packages)} of ${packages} packages`);
	};
	mkdirSync(join(root, '.tools'), { recursive: true });
	// Build under a temporary name and rename, so an interrupted or parallel build leaves no broken program.
	const unfinished = `${target}.${process.pid}`;
	// With -v, Go names each package when it begins to compile it.
	const parameters = ['build', '-v', '-trimpath', '-ldflags=-s -w', '-o', unfinished, ...tags, '.'];
	const { code, output } = await execute('go', parameters, { cwd: source, env }, heard);
	if (code !== 0) {
		rmSync(unfinished, { force: true });
		// Lines with a single word are package names.
		const said = output.split('\n').filter((line) => /\S\s+\S/.test(line));
		throw new SetupError(`Go could not build OPA (is a Go module proxy reachable?):\n${said.join('\n')}`);
	}
	renameSync(unfinished, target);
	writeFileSync(stampPath(target), sourceDigest(root));
	say(`built ${version}`);
	return target;
}

/** Returns the number of packages left to compile; 0 if Go cannot report it. */
async function countPackages(source, tags, env) {
	const template = '{{if .Stale}}{{.ImportPath}}{{end}}';
	const parameters = ['list', '-deps', '-trimpath', ...tags, '-f', template, '.'];
	const { code, stdout } = await execute('go', parameters, { cwd: source, env });
	return code === 0 ? stdout.split('\n').filter((line) => line !== '').length : 0;
}

/** Returns the path of the file that contains the program's source digest. */
function stampPath(program) {
	return `${program}.source`;
}

function readStamp(program) {
	return existsSync(stampPath(program)) ? readFileSync(stampPath(program), 'utf8') : undefined;
}

/** Returns the digest over the program's sources. */
function sourceDigest(root) {
	const folder = sourceFolder(root);
	const names = readdirSync(folder).filter((name) => /\.(go|mod|sum)$/.test(name));
	return digestFiles(folder, names.sort());
}

function sourceFolder(root) {
	return join(root, 'compiler/opa');
}

/** Returns the environment variables for Go. `environment` takes precedence over this process's environment. */
function goEnvironment(environment) {
	return { ...process.env, ...environment, CGO_ENABLED: '0', GOWORK: 'off' };
}

async function requireGo(root, pin, environment) {
	const env = goEnvironment(environment);
	const wanted = pin.go.join('.');
	const remedy =
		`Install Go ${wanted} or newer (https://go.dev/dl), so that this command can build OPA;\n` +
		`or install OPA ${pin.opa[0]}.${pin.opa[1]} or newer (https://www.openpolicyagent.org/docs#1-download-opa) as \`opa\` on PATH;\n` +
		'or set OPA_PATH to the path of an opa program.';
	if (!findOnPath('go', env.PATH)) {
		const tooOld = (await opasOnPath(env)).map(({ path }) => path).join(', ');
		const problem = tooOld ? `${tooOld} cannot replace OPA ${pin.opa.join('.')}` : 'The opa program is missing';
		throw new SetupError(`${problem}, and Go, which would build one, is not on PATH.\n${remedy}`);
	}
	// This must run inside the module. If Go may download the newer toolchain that the module requires, it then reports
	// the version of this toolchain.
	const { code, stdout, output } = await execute('go', ['env', 'GOVERSION'], { cwd: sourceFolder(root), env });
	const found = parseVersion(stdout);
	if (code !== 0 || !found || compareVersions(found, pin.go) < 0) {
		throw new SetupError(`Building OPA needs Go ${wanted} or newer; go says: ${output.trim()}\n${remedy}`);
	}
}
