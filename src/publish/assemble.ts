import { createHash } from 'node:crypto';
import {
	type BrokenObject,
	brokenByDiagnostics,
	brokenByPaths,
	brokenTitle,
	compilePolicy,
	layout,
	type RegoFile,
	type Schema,
	withoutBroken,
} from '../../compiler/index.js';
import { entrypoints, OpaFailure, readPolicyLibrary, rememberedVersion } from '../../compiler/opa/build.js';
import type { Clock } from '../clock.js';
import { errorMessage } from '../failure.js';
import type { PolicyStore } from '../store/policy/policy-store.js';
import type { LeftOut, PolicyFailure } from '../store/policy/publications.js';
import { createWasmCompiler, type WasmCompiler } from './wasm-compiler.js';

/** Result for a schema: the digest of a stored policy, or the failure. */
type Assembled =
	| {
			readonly digest: string;
			readonly failure: null;
			readonly built: boolean;
			/** Compiled schema, without left-out objects. */
			readonly schema: Schema;
			/** Objects excluded because the schema did not compile with them. */
			readonly left_out: readonly LeftOut[];
	  }
	| { readonly digest: null; readonly failure: PolicyFailure };

/** Compiled policy that is kept only in memory. */
export interface DraftedPolicy {
	readonly digest: string;
	readonly failure: null;
	readonly wasm: Uint8Array;
	/** Objects excluded because the schema did not compile with them. */
	readonly left_out: readonly LeftOut[];
}

/** Result for a schema that is not active: its policy, or the failure. */
export type Drafted = DraftedPolicy | { readonly digest: null; readonly failure: PolicyFailure };

/** Maximum number of draft modules in memory. */
const maxDrafts = 4;

/**
 * Maximum number of rounds in which objects are excluded from a schema. Several rounds may be necessary, because OPA
 * does not report all errors together.
 */
const maxRounds = 5;

/** Compiles schemas into stored policies. */
export interface Assembler {
	/**
	 * Compiles a schema. Runs `opa` only if no policy with the same Rego is stored yet. If objects break the compilation
	 * and can be identified, compiles the schema without them. Returns all other errors as failures. Rejects only if the
	 * store cannot be reached.
	 */
	assemble(schema: Schema): Promise<Assembled>;
	/**
	 * Like `assemble`, for a schema that may never become active. The result is not stored, but cached in memory for a
	 * while.
	 */
	draft(schema: Schema): Promise<Drafted>;
	/** True if `opa` runs, and the last Rego either compiled or was rejected because of its contents. */
	isWorking(): Promise<boolean>;
	/** Stops the compiler, if it keeps running between schemas. */
	stop(): Promise<void>;
}

/**
 * Creates an assembler. It compiles with the program at the path `opa` and includes the hand-written Rego from
 * `readLibrary`.
 */
export function createAssembler(
	opa: string,
	policies: PolicyStore,
	clock: Clock,
	readLibrary: () => Promise<readonly RegoFile[]> = readPolicyLibrary,
): Assembler {
	const version = rememberedVersion(opa);
	const compiler = createWasmCompiler(opa);
	/** True if the last compilation failed for a reason unrelated to the Rego contents. */
	let broken = false;
	/** Draft modules by digest, least recently used first. */
	const drafts = new Map<string, Uint8Array>();
	return {
		stop: () => compiler.stop(),
		isWorking: () =>
			version().then(
				() => !broken,
				() => false,
			),
		async assemble(schema) {
			const { found, left_out, schema: compiled } = await withoutObjectsToBlame(schema, assembleWhole);
			return 'failure' in found
				? { digest: null, failure: found.failure }
				: { ...found, failure: null, schema: compiled, left_out };
		},
		async draft(schema) {
			const { found, left_out } = await withoutObjectsToBlame(schema, draftWhole);
			return 'failure' in found ? { digest: null, failure: found.failure } : { ...found, failure: null, left_out };
		},
	};

	async function assembleWhole(schema: Schema): Promise<{ readonly digest: string; readonly built: boolean } | Failed> {
		const source = await sourceFor(schema);
		if ('failure' in source) return source;
		const { files, digest } = source.value;
		if (await policies.has(digest)) return { digest, built: false };
		const built = await build(schema, files);
		if ('failure' in built) return built;
		await policies.keep({ digest, files, wasm: built.value }, clock.now());
		return { digest, built: true };
	}

	async function draftWhole(schema: Schema): Promise<{ readonly digest: string; readonly wasm: Uint8Array } | Failed> {
		const source = await sourceFor(schema);
		if ('failure' in source) return source;
		const { files, digest } = source.value;
		const known = drafts.get(digest) ?? (await policies.wasm(digest));
		const built = known === null ? await build(schema, files) : { value: known };
		if ('failure' in built) return built;
		drafts.delete(digest);
		drafts.set(digest, built.value);
		const [oldest] = drafts.keys();
		if (drafts.size > maxDrafts && oldest !== undefined) drafts.delete(oldest);
		return { digest, wasm: built.value };
	}

	/** Returns the Rego for a complete schema, with its digest. */
	async function sourceFor(
		schema: Schema,
	): Promise<Attempt<{ readonly files: readonly RegoFile[]; readonly digest: string }>> {
		const { policy, diagnostics } = compilePolicy(schema);
		if (policy === null) {
			const details = diagnostics.map(({ code, message, at }) => `${at.join('.')}: ${message} (${code})`);
			const failure = { message: 'the schema cannot be compiled', details };
			return { failure, broken: brokenByDiagnostics(schema, diagnostics) };
		}
		return attempt(schema, async () => {
			const [library, opaVersion] = await Promise.all([readLibrary(), version()]);
			const files = [...library, ...policy];
			return { files, digest: policyDigest(files, opaVersion) };
		});
	}

	function build(schema: Schema, files: readonly RegoFile[]): Promise<Attempt<Uint8Array>> {
		return attempt(schema, () =>
			compileWasm(compiler, files).then(
				(wasm) => {
					broken = false;
					return wasm;
				},
				(error: unknown) => {
					broken = !(error instanceof OpaFailure && error.exitCode !== null);
					throw error;
				},
			),
		);
	}
}

/**
 * Tries the complete schema first. Then excludes broken objects until the schema compiles, or until no further broken
 * object can be identified.
 */
async function withoutObjectsToBlame<T extends object>(
	schema: Schema,
	tryWhole: (left: Schema) => Promise<T | Failed>,
) {
	const left_out: LeftOut[] = [];
	let left = schema;
	for (let round = 0; ; round += 1) {
		const found = await tryWhole(left);
		if (!('failure' in found)) return { found, schema: left, left_out };
		const { failure, broken } = found;
		if (broken.length === 0 || round === maxRounds) return { found, schema: left, left_out };
		left = withoutBroken(left, broken);
		left_out.push(...broken.map((object) => ({ object: brokenTitle(object), message: failureText(failure) })));
	}
}

/** Compilation failure, with the broken objects if they could be identified. */
interface Failed {
	readonly failure: PolicyFailure;
	readonly broken: readonly BrokenObject[];
}

type Attempt<T> = { readonly value: T } | Failed;

function failureText({ message, details }: PolicyFailure): string {
	return [message, ...details].join('\n');
}

/** Matches the generated files in OPA's errors. */
const blamedPath = /regolith\/[^\s:]*\.rego(?=:\d)/g;

async function attempt<T>(schema: Schema, run: () => Promise<T>): Promise<Attempt<T>> {
	try {
		return { value: await run() };
	} catch (error) {
		const message = errorMessage(error);
		const details = error instanceof OpaFailure ? error.stderr.split('\n').filter((line) => line !== '') : [];
		const paths = details.flatMap((line) => line.match(blamedPath) ?? []);
		return { failure: { message, details }, broken: brokenByPaths(schema, paths) };
	}
}

/**
 * Returns the hexadecimal SHA-256 over everything that determines a module. Equal Rego has the same digest in every
 * environment.
 */
function policyDigest(files: readonly RegoFile[], opa: string): string {
	const text = JSON.stringify({ layout, entrypoints, opa, files: files.map((file) => [file.path, file.text]) });
	return createHash('sha256').update(text).digest('hex');
}

async function compileWasm(compiler: WasmCompiler, files: readonly RegoFile[]): Promise<Uint8Array> {
	const wasm = await compiler.compile(files);
	// INVARIANT: only modules that compile here are published, because `opa build` can write an invalid module without
	// reporting an error.
	await WebAssembly.compile(wasm as Uint8Array<ArrayBuffer>);
	return wasm;
}
