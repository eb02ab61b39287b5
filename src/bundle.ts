/** The file in which policy and data travel: OPA's bundle format, packed so that equal content gives equal bytes. */

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { extract, pack as packTar } from 'tar-stream';
import { z } from 'zod';
import { layout } from '../compiler/layout.js';
import type { Json, Patch } from '../compiler/model.js';

/** One file of a bundle. `path` is relative to the bundle's root, uses `/`, and may begin with one. */
export interface BundleFile {
	readonly path: string;
	readonly bytes: Uint8Array;
}

/** What `unpack` refuses to exceed. */
export interface UnpackLimits {
	/** Total size after decompression, tar headers included, in bytes. */
	readonly bytes: number;
	readonly files: number;
}

/** Bytes that are not a bundle this version understands; the message says where and why. */
export class BundleError extends Error {
	override readonly name = 'BundleError';
}

const defaultLimits: UnpackLimits = { bytes: 1024 ** 3, files: 100_000 };

/** How much of a bundle is read at one stretch, in bytes. */
const portion = 1024 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Packs files into a gzipped tar. Equal files give equal bytes, in any order and on any machine. */
export async function pack(files: readonly BundleFile[]): Promise<Uint8Array> {
	const tar = packTar();
	const sorted = files.map((file) => ({ ...file, path: relative(file.path) })).sort(byPath);
	for (const { path, bytes } of sorted) {
		tar.entry(
			{ name: `/${path}`, mode: 0o644, uid: 0, gid: 0, mtime: new Date(0), type: 'file' },
			Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
		);
	}
	tar.finalize();
	const chunks: Uint8Array[] = [];
	for await (const chunk of tar) chunks.push(chunk as Uint8Array);
	const packed = await compress(Buffer.concat(chunks), { level: 6 });
	// The gzip header names the operating system; 255 is "unknown".
	packed[9] = 255;
	return packed;
}

/**
 * Reads a bundle: its files by path relative to the root, without a leading `/`.
 * Throws `BundleError` on anything that is no complete bundle or that exceeds the limits.
 */
export async function unpack(
	bytes: Uint8Array,
	limits: UnpackLimits = defaultLimits,
): Promise<ReadonlyMap<string, Uint8Array>> {
	const tar = await gunzipped(bytes, limits.bytes);
	const files = new Map<string, Uint8Array>();
	const reader = extract();
	// What is wrong with the tar is thrown where it is read.
	pipeline(Readable.from(portionsOf(tar), { objectMode: false }), reader).catch(() => undefined);
	try {
		for await (const entry of reader) {
			const { name, type, size = 0 } = entry.header;
			if (size > limits.bytes) throw new BundleError(`bundle entry \`${name}\` is larger than ${limits.bytes} bytes`);
			const content = Buffer.allocUnsafeSlow(size);
			let length = 0;
			for await (const chunk of entry) length += (chunk as Buffer).copy(content, length);
			if (type === 'directory') continue;
			if (type !== 'file') throw new BundleError(`bundle entry \`${name}\` is a ${type}, not a file`);
			const path = relative(name);
			if (files.has(path)) throw new BundleError(`bundle entry \`${path}\` is there twice`);
			if (files.size === limits.files) throw new BundleError(`the bundle holds more than ${limits.files} files`);
			files.set(path, content.subarray(0, length));
		}
	} catch (error) {
		throw error instanceof BundleError ? error : new BundleError(`the bundle is no complete tar file: ${text(error)}`);
	}
	return files;
}

/** Bytes in portions, each in a turn of the event loop of its own: a bundle of many megabytes holds up nobody. */
async function* portionsOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
	for (let from = 0; from < bytes.length; from += portion) {
		yield bytes.subarray(from, from + portion);
		await nextTurn();
	}
}

async function gunzipped(bytes: Uint8Array, limit: number): Promise<Uint8Array> {
	try {
		return await decompress(bytes, { maxOutputLength: limit });
	} catch (error) {
		if (error instanceof RangeError) throw new BundleError(`the bundle is larger than ${limit} bytes when unpacked`);
		throw new BundleError(`the bundle is no complete gzip file: ${text(error)}`);
	}
}

function relative(path: string): string {
	const inner = path.replace(/^(\.?\/)+/, '');
	const steps = inner.split('/');
	if (inner.includes('\0') || steps.some((step) => step === '' || step === '.' || step === '..')) {
		throw new BundleError(`\`${path}\` is not a path inside a bundle`);
	}
	return inner;
}

function byPath(a: BundleFile, b: BundleFile): number {
	return a.path < b.path ? -1 : Number(a.path > b.path);
}

function text(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

const revisionText = z.string().regex(/^\d{1,15}$/, 'a revision is a decimal number');

const shared = {
	/** The environment's id; a decision point holds one environment only. */
	environment: z.string(),
	layout: z.literal(layout),
	/** SHA-256 of the Rego files, in hexadecimal. */
	policy: z.string(),
	/** The newest revision whose policy this is. */
	policy_revision: revisionText,
	/** Why the policy is not that of the newest schema, whole; null when it is. `since` is ISO 8601. */
	degraded: z
		.object({ reason: z.enum(['compiling', 'failed', 'left_out']), since: z.string(), detail: z.string() })
		.nullable(),
};

const kinds = z.discriminatedUnion('kind', [
	z.object({ kind: z.literal('snapshot'), ...shared }),
	z.object({ kind: z.literal('delta'), base: revisionText, ...shared }),
	z.object({ kind: z.literal('policy'), base: revisionText, ...shared }),
]);

const manifestSchema = z.object({
	revision: revisionText,
	roots: z.array(z.string()),
	rego_version: z.literal(1),
	wasm: z.array(z.object({ entrypoint: z.string(), module: z.string() })).optional(),
	metadata: z.object({ regolith: kinds }),
});

/** The `.manifest` of a bundle: OPA's members, and under `metadata.regolith` what kind of step the bundle is. */
export type Manifest = z.infer<typeof manifestSchema>;

/** How the policy of a bundle differs from that of the newest schema: why, since when, and what was said of it. */
export type Degradation = NonNullable<Manifest['metadata']['regolith']['degraded']>;

/** What tells one manifest from another. */
export interface ManifestParts {
	readonly revision: number;
	readonly environment: string;
	readonly policy: string;
	/** The newest revision whose policy this is; the bundle's own where it is left out. */
	readonly policyRevision?: number;
	/** Why the policy is not that of the newest schema, whole; leave out when it is. */
	readonly degraded?: Degradation | null;
	/** Entrypoints of `/policy.wasm`; leave out for bundles without one. */
	readonly entrypoints?: readonly string[];
	/** A snapshot is whole; the other two are steps from any revision at or after `base`. */
	readonly step: { readonly kind: 'snapshot' } | { readonly kind: 'delta' | 'policy'; readonly base: number };
}

/** Writes a manifest. */
export function manifest(parts: ManifestParts): Manifest {
	const { step, entrypoints, policyRevision = parts.revision, degraded = null } = parts;
	const common = {
		environment: parts.environment,
		layout,
		policy: parts.policy,
		policy_revision: String(policyRevision),
		degraded,
	} as const;
	return {
		revision: String(parts.revision),
		roots: ['regolith'],
		rego_version: 1,
		...(entrypoints && { wasm: entrypoints.map((entrypoint) => ({ entrypoint, module: '/policy.wasm' })) }),
		metadata: {
			regolith:
				step.kind === 'snapshot'
					? { kind: step.kind, ...common }
					: { kind: step.kind, base: String(step.base), ...common },
		},
	};
}

/** Reads the `.manifest` of an unpacked bundle. Throws `BundleError` when there is none or it is not understood. */
export function parseManifest(files: ReadonlyMap<string, Uint8Array>): Manifest {
	return parseJson(manifestSchema, files, '.manifest');
}

/** The bytes of `.manifest`. */
export function manifestFile(value: Manifest): BundleFile {
	return { path: '.manifest', bytes: Buffer.from(JSON.stringify(value)) };
}

const pointer = z.string().regex(/^\//, 'a path begins with `/` and names at least one member');
// Not a record: those lose members called `__proto__`, and what `JSON.parse` returned is a JSON value already.
const json = z.custom<Json>((value) => value !== undefined);
const patchesSchema = z.object({ data: z.array(z.unknown()) });
const patchSchema = z.discriminatedUnion('op', [
	z.object({ op: z.literal('upsert'), path: pointer, value: json }),
	z.object({ op: z.literal('remove'), path: pointer }),
]);

/** How many patches are read between two pauses. */
const patchStride = 200;

/**
 * Reads `patch.json` of an unpacked bundle; none at all is no patches. Throws `BundleError` when it is not understood.
 */
export function parsePatches(files: ReadonlyMap<string, Uint8Array>): readonly Patch[] {
	const steps = parsingPatches(files);
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
	}
}

/** The same in steps: it may be interrupted wherever it yields. */
export function* parsingPatches(
	files: ReadonlyMap<string, Uint8Array>,
): Generator<undefined, readonly Patch[], undefined> {
	const patches: Patch[] = [];
	if (!files.has('patch.json')) return patches;
	const { data } = parseJson(patchesSchema, files, 'patch.json');
	for (const [index, value] of data.entries()) {
		if (index % patchStride === patchStride - 1) yield;
		const parsed = patchSchema.safeParse(value);
		if (!parsed.success) {
			throw new BundleError(`patch ${index} of \`patch.json\` is not understood: ${z.prettifyError(parsed.error)}`);
		}
		patches.push({ ...parsed.data, path: steps(parsed.data.path) });
	}
	return patches;
}

function steps(path: string): readonly string[] {
	return path
		.slice(1)
		.split('/')
		.map((step) => percentDecoded(step).replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** OPA reads patch paths as it reads URLs, so they are written with percent-encoding. */
function percentDecoded(step: string): string {
	try {
		return decodeURIComponent(step);
	} catch {
		throw new BundleError(`the step \`${step}\` of a patch's path holds a malformed percent-encoding`);
	}
}

function parseJson<T>(schema: z.ZodType<T>, files: ReadonlyMap<string, Uint8Array>, path: string): T {
	const bytes = files.get(path);
	if (bytes === undefined) throw new BundleError(`the bundle has no \`${path}\``);
	let value: unknown;
	try {
		value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
	} catch (error) {
		throw new BundleError(`\`${path}\` is not valid JSON: ${text(error)}`);
	}
	const parsed = schema.safeParse(value);
	if (!parsed.success) throw new BundleError(`\`${path}\` is not understood: ${z.prettifyError(parsed.error)}`);
	return parsed.data;
}
