import { createHash } from 'node:crypto';
import { compilePolicy, layout, type RegoFile, type Schema } from '../../compiler/index.js';
import { buildWasm, entrypoints, OpaFailure, readPolicyLibrary, rememberedVersion } from '../../compiler/opa/build.js';
import { unpack } from '../bundle.js';
import type { Clock } from '../clock.js';
import type { PolicyFailure, PolicyShelf } from '../store/policy.js';

/** What a schema came to: the digest of a policy that is on the shelf, or why there is none. */
export type Assembled =
	| { readonly digest: string; readonly failure: null; readonly built: boolean }
	| { readonly digest: null; readonly failure: PolicyFailure };

/** Turns schemas into policies on the shelf. */
export interface Assembler {
	/**
	 * Compiles a schema; runs `opa` only for Rego that is not on the shelf yet. Whatever keeps it from becoming a policy
	 * that loads is a failure in the result; it rejects only when the shelf cannot be reached.
	 */
	assemble(schema: Schema): Promise<Assembled>;
}

/** Makes an assembler that compiles with the `opa` at this path and the hand-written Rego of `readLibrary`. */
export function createAssembler(
	opa: string,
	shelf: PolicyShelf,
	clock: Clock,
	readLibrary: () => Promise<readonly RegoFile[]> = readPolicyLibrary,
): Assembler {
	const version = rememberedVersion(opa);
	return {
		async assemble(schema) {
			const { policy, diagnostics } = compilePolicy(schema);
			if (policy === null) {
				const details = diagnostics.map(({ code, message, at }) => `${at.join('.')}: ${message} (${code})`);
				return { digest: null, failure: { message: 'the schema cannot be compiled', details } };
			}
			const source = await attempt(async () => {
				const [library, opaVersion] = await Promise.all([readLibrary(), version()]);
				const files = [...library, ...policy];
				return { files, digest: digestOf(files, opaVersion) };
			});
			if ('failure' in source) return source;
			const { files, digest } = source.value;
			if (await shelf.has(digest)) return { digest, failure: null, built: false };
			const built = await attempt(() => wasmOf(opa, files));
			if ('failure' in built) return built;
			await shelf.keep({ digest, files, wasm: built.value }, clock.now());
			return { digest, failure: null, built: true };
		},
	};
}

type Attempt<T> = { readonly value: T } | { readonly digest: null; readonly failure: PolicyFailure };

async function attempt<T>(run: () => Promise<T>): Promise<Attempt<T>> {
	try {
		return { value: await run() };
	} catch (error) {
		const message = error instanceof Error ? error.message : String(error);
		const details = error instanceof OpaFailure ? error.stderr.split('\n').filter((line) => line !== '') : [];
		return { digest: null, failure: { message, details } };
	}
}

/** SHA-256 of what a module is made from and by, hexadecimal: equal Rego has one digest in every environment. */
function digestOf(files: readonly RegoFile[], opa: string): string {
	const text = JSON.stringify({ layout, entrypoints, opa, files: files.map((file) => [file.path, file.text]) });
	return createHash('sha256').update(text).digest('hex');
}

async function wasmOf(opa: string, files: readonly RegoFile[]): Promise<Uint8Array> {
	const bundle = await unpack(await buildWasm({ opa, files }));
	const wasm = bundle.get('policy.wasm');
	if (wasm === undefined) throw new Error('`opa build` wrote a bundle without `policy.wasm`');
	// INVARIANT: nothing is published that does not compile here; `opa build` can write an invalid module unnoticed.
	await WebAssembly.compile(wasm as Uint8Array<ArrayBuffer>);
	return wasm;
}
