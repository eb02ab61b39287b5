/** OPA's bundle format, used to transfer policy and data. For packing see `pack.ts`. */

import { z } from 'zod';
import { layout } from '../../compiler/layout.js';
import type { Json, Patch } from '../../compiler/model.js';
import { errorMessage } from '../failure.js';
import { gunzipWithin } from './gunzip.js';
import { tarEntries } from './tar-entries.js';

/** A file in a bundle. `path` is relative to the bundle's root, uses `/`, and may start with `/`. */
export interface BundleFile {
	readonly path: string;
	readonly bytes: Uint8Array;
}

/** Limits enforced by `unpack`. */
export interface UnpackLimits {
	/** Total size after decompression, including tar headers, in bytes. */
	readonly bytes: number;
	readonly files: number;
}

/** The bundle is invalid, or this version does not support it. The message contains the faulty part and the reason. */
export class BundleError extends Error {
	override readonly name = 'BundleError';
}

/** A valid bundle that this process must not trust. */
export class SignatureError extends BundleError {}

/** Signature file in a bundle. It covers all other files. */
export const signaturesPath = '.signatures.json';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
/** Maximum bundle size, packed and unpacked, in bytes. */
export const maxBundleBytes = 1024 ** 3;
const defaultLimits: UnpackLimits = { bytes: maxBundleBytes, files: 100_000 };

/**
 * Unpacks a bundle into its files, keyed by path relative to the root, without a leading `/`. Throws `BundleError` if
 * the bundle is incomplete or exceeds the limits.
 */
export async function unpack(
	bytes: Uint8Array,
	limits: UnpackLimits = defaultLimits,
): Promise<ReadonlyMap<string, Uint8Array>> {
	const tar = await unzipped(bytes, limits.bytes);
	const files = new Map<string, Uint8Array>();
	try {
		for (const { name, type, content } of tarEntries(tar)) {
			if (type === 'directory') continue;
			if (type !== 'file') throw new BundleError(`bundle entry \`${name}\` is a ${type}, not a file`);
			const path = pathInBundle(name);
			if (files.has(path)) throw new BundleError(`bundle entry \`${path}\` occurs twice`);
			if (files.size === limits.files) throw new BundleError(`the bundle holds more than ${limits.files} files`);
			files.set(path, content);
		}
	} catch (error) {
		throw error instanceof BundleError
			? error
			: new BundleError(`the bundle is not a complete tar file: ${errorMessage(error)}`);
	}
	return files;
}

async function unzipped(bytes: Uint8Array, limit: number): Promise<Uint8Array> {
	try {
		return await gunzipWithin(bytes, limit);
	} catch (error) {
		if (error instanceof RangeError) throw new BundleError(`the bundle is larger than ${limit} bytes when unpacked`);
		throw new BundleError(`the bundle is not a complete gzip file: ${errorMessage(error)}`);
	}
}

/** Returns a path relative to the bundle's root. Throws `BundleError` if it leaves the root or is empty. */
export function pathInBundle(path: string): string {
	const inner = path.replace(/^(\.?\/)+/, '');
	const steps = inner.split('/');
	if (inner.includes('\0') || steps.some((step) => step === '' || step === '.' || step === '..')) {
		throw new BundleError(`\`${path}\` is not a path inside a bundle`);
	}
	return inner;
}

const revisionText = z.string().regex(/^\d{1,15}$/, 'a revision is a decimal number');

const shared = {
	/**
	 * The revision's lineage. Revisions in different lineages cannot be compared. Empty in bundles from earlier versions.
	 */
	lineage: z.string().default(''),
	/** The revision's random token; empty in bundles from earlier versions. */
	token: z.string().default(''),
	/** Environment id. A decision point serves a single environment. */
	environment: z.string(),
	layout: z.literal(layout),
	/** SHA-256 of the Rego files, in hexadecimal. */
	policy: z.string(),
	/** Newest revision with this policy. */
	policy_revision: revisionText,
	/**
	 * Reason why the bundle does not contain the newest schema's complete policy; null if it does. `since` is an ISO 8601
	 * time.
	 */
	degraded: z
		.object({ reason: z.enum(['compiling', 'failed', 'left_out']), since: z.string(), detail: z.string() })
		.nullable(),
};

const kinds = z.discriminatedUnion('kind', [
	z.object({
		kind: z.literal('snapshot'),
		/** Ended lineages, newest first. */
		former_lineages: z.array(z.string()).default([]),
		...shared,
	}),
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

/**
 * A bundle's `.manifest`: the fields defined by OPA, and our metadata under `metadata.regolith`, including the kind of
 * step.
 */
export type Manifest = z.infer<typeof manifestSchema>;

/** Reason, start time and details if a bundle's policy is not the newest schema's complete policy. */
export type Degradation = NonNullable<Manifest['metadata']['regolith']['degraded']>;

/** Variable parts of a manifest. */
export interface ManifestParts {
	/** The revision's lineage id; empty by default. */
	readonly lineage?: string;
	readonly revision: number;
	/** The revision's random token; empty by default. */
	readonly token?: string;
	readonly environment: string;
	readonly policy: string;
	/** Newest revision with this policy; the bundle's revision by default. */
	readonly policyRevision?: number;
	/** Reason why the bundle does not contain the newest schema's complete policy; omitted if it does. */
	readonly degraded?: Degradation | null;
	/** Additional roots; none by default. */
	readonly roots?: readonly string[];
	/** Entrypoints in `/policy.wasm`; omitted for bundles without this file. */
	readonly entrypoints?: readonly string[];
	/** A snapshot is complete. A delta or policy step applies to any revision from `base` on, in the same lineage. */
	readonly step:
		| { readonly kind: 'snapshot'; readonly formerLineages?: readonly string[] }
		| { readonly kind: 'delta' | 'policy'; readonly base: number };
}

export function manifest(parts: ManifestParts): Manifest {
	const { step, entrypoints, policyRevision = parts.revision, degraded = null, roots = [] } = parts;
	const common = {
		lineage: parts.lineage ?? '',
		token: parts.token ?? '',
		environment: parts.environment,
		layout,
		policy: parts.policy,
		policy_revision: String(policyRevision),
		degraded,
	} as const;
	return {
		revision: String(parts.revision),
		roots: ['regolith', ...roots],
		rego_version: 1,
		...(entrypoints && { wasm: entrypoints.map((entrypoint) => ({ entrypoint, module: '/policy.wasm' })) }),
		metadata: {
			regolith:
				step.kind === 'snapshot'
					? { kind: step.kind, former_lineages: [...(step.formerLineages ?? [])], ...common }
					: { kind: step.kind, base: String(step.base), ...common },
		},
	};
}

/** Parses the `.manifest` in an unpacked bundle. Throws `BundleError` if it is missing or invalid. */
export function parseManifest(files: ReadonlyMap<string, Uint8Array>): Manifest {
	return parseJson(manifestSchema, files, '.manifest');
}

export function manifestFile(value: Manifest): BundleFile {
	return { path: '.manifest', bytes: new TextEncoder().encode(JSON.stringify(value)) };
}

const pointer = z.string().regex(/^\//, 'a path begins with `/` and names at least one member');
// Not `z.record`, because it drops properties named `__proto__`. Results of `JSON.parse` are always valid JSON values.
const json = z.custom<Json>((value) => value !== undefined);
const patchesSchema = z.object({ data: z.array(z.unknown()) });
const patchSchema = z.discriminatedUnion('op', [
	z.object({ op: z.literal('upsert'), path: pointer, value: json }),
	z.object({ op: z.literal('remove'), path: pointer }),
]);

/** Number of patches read between two pauses. */
const patchStride = 200;

/**
 * Parses `patch.json` in an unpacked bundle. Returns no patches if the file is missing. Throws `BundleError` if it is
 * invalid.
 */
export function parsePatches(files: ReadonlyMap<string, Uint8Array>): readonly Patch[] {
	const steps = parsePatchesInSteps(files);
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
	}
}

/** Like `parsePatches`, but yields periodically so that the caller can pause. */
export function* parsePatchesInSteps(
	files: ReadonlyMap<string, Uint8Array>,
): Generator<undefined, readonly Patch[], undefined> {
	const patches: Patch[] = [];
	if (!files.has('patch.json')) return patches;
	const { data } = parseJson(patchesSchema, files, 'patch.json');
	for (const [index, value] of data.entries()) {
		if (index % patchStride === patchStride - 1) yield;
		const parsed = patchSchema.safeParse(value);
		if (!parsed.success) {
			throw new BundleError(`patch ${index} in \`patch.json\` is invalid: ${z.prettifyError(parsed.error)}`);
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

/** OPA reads patch paths like URLs, so they are percent-encoded. */
function percentDecoded(step: string): string {
	try {
		return decodeURIComponent(step);
	} catch {
		throw new BundleError(`the step \`${step}\` in a patch path contains malformed percent-encoding`);
	}
}

function parseJson<T>(schema: z.ZodType<T>, files: ReadonlyMap<string, Uint8Array>, path: string): T {
	const bytes = files.get(path);
	if (bytes === undefined) throw new BundleError(`the bundle has no \`${path}\``);
	let value: unknown;
	try {
		value = JSON.parse(decoder.decode(bytes));
	} catch (error) {
		throw new BundleError(`\`${path}\` is not valid JSON: ${errorMessage(error)}`);
	}
	const parsed = schema.safeParse(value);
	if (!parsed.success) throw new BundleError(`\`${path}\` is invalid: ${z.prettifyError(parsed.error)}`);
	return parsed.data;
}
