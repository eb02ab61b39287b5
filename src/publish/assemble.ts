import { createHash } from 'node:crypto';
import { compilePolicy, layout, type RegoFile, type Schema } from '../../compiler/index.js';
import { buildWasm, entrypoints, OpaFailure, readPolicyLibrary } from '../../compiler/opa/build.js';
import { unpack } from '../bundle.js';
import type { Clock } from '../clock.js';
import type { PolicyFailure, PolicyShelf } from '../store/policy.js';

/** What a schema came to: the digest of a policy that is on the shelf, or why there is none. */
export type Assembled =
	| { readonly digest: string; readonly failure: null; readonly built: boolean }
	| { readonly digest: null; readonly failure: PolicyFailure };

/** Turns schemas into policies on the shelf. */
export interface Assembler {
	/** Compiles a schema; runs `opa` only for Rego that is not on the shelf yet. Throws only what is no fault of the schema. */
	assemble(schema: Schema): Promise<Assembled>;
}

/** Makes an assembler that compiles with the `opa` at this path. */
export function createAssembler(opa: string, shelf: PolicyShelf, clock: Clock): Assembler {
	const library = readPolicyLibrary();
	library.catch(() => undefined);
	return {
		async assemble(schema) {
			const { policy, diagnostics } = compilePolicy(schema);
			if (policy === null) {
				const details = diagnostics.map(({ code, message, at }) => `${at.join('.')}: ${message} (${code})`);
				return { digest: null, failure: { message: 'the schema cannot be compiled', details } };
			}
			const files = [...(await library), ...policy];
			const digest = digestOf(files);
			if ((await shelf.files(digest)) !== null) return { digest, failure: null, built: false };
			try {
				await shelf.keep({ digest, files, wasm: await wasmOf(opa, files) }, clock.now());
				return { digest, failure: null, built: true };
			} catch (error) {
				if (!(error instanceof OpaFailure)) throw error;
				return { digest: null, failure: { message: error.message, details: error.stderr.split('\n') } };
			}
		},
	};
}

/** SHA-256 of what a module is made from, hexadecimal: equal Rego has one digest in every environment. */
function digestOf(files: readonly RegoFile[]): string {
	const text = JSON.stringify({ layout, entrypoints, files: files.map(({ path, text }) => [path, text]) });
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
