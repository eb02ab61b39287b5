/** Fixed revisions, loaded from a bundle or from a module with its data. */

import { parseManifest, unpack } from '../../../src/bundle/bundle.js';
import { errorMessage } from '../../../src/failure.js';
import { SliceScheduler } from '../../../src/limit/slice-scheduler.js';
import type { Run } from '../../../src/pdp/engine/engine.js';
import type { VerifyBundle } from '../../../src/pdp/follow/bundle-verifier.js';
import { Leases } from '../../../src/pdp/follow/leases.js';
import { loadPolicy, loadSnapshot } from '../../../src/pdp/follow/load-snapshot.js';
import { isPast, type WantedRevision } from '../../../src/pdp/follow/progress.js';
import { sha256 } from '../../../src/pdp/follow/sha256.js';
import { type BundleSource, type EngineState, type ModuleSource, RegolithError } from './api.js';
import { isBytes } from './class-tag.js';
import type { HeldRevision, RevisionHolder } from './held-revision.js';

/** Verifies and loads a snapshot bundle, like a decision point. Rejects with `invalid_bundle`. */
export async function loadBundle(
	{ bundle, sha256: wanted }: BundleSource,
	verify: VerifyBundle | undefined,
): Promise<RevisionHolder> {
	const scheduler = new SliceScheduler();
	const run: Run = (steps) => scheduler.run(steps);
	const bytes = asBytes(bundle);
	return asInvalidBundle(async () => {
		if (wanted !== undefined) await requireDigest(bytes, wanted, run);
		const files = await unpack(bytes);
		await verify?.(files, run);
		const manifest = parseManifest(files);
		const { kind, lineage, policy_revision } = manifest.metadata.regolith;
		if (kind !== 'snapshot') throw new Error(`a ${kind} bundle depends on an earlier bundle: a snapshot is needed`);
		const loaded = await loadSnapshot(files, run);
		const numbers = { lineage, revision: Number(manifest.revision), policyRevision: Number(policy_revision) };
		return new FixedRevision(scheduler, { engine: loaded.engine, facts: loaded.facts, ...numbers });
	});
}

/** Loads a compiled policy with data. Rejects with `invalid_bundle`. */
export async function loadModule({ module, data }: ModuleSource): Promise<RevisionHolder> {
	const scheduler = new SliceScheduler();
	return asInvalidBundle(async () => {
		const loaded = await loadPolicy(module as WebAssembly.Module, dataBytes(data), (steps) => scheduler.run(steps));
		const numbers = { revision: undefined, policyRevision: undefined };
		return new FixedRevision(scheduler, { engine: loaded.engine, facts: loaded.facts, ...numbers });
	});
}

class FixedRevision implements RevisionHolder {
	readonly leases = new Leases();
	readonly state: EngineState = { kind: 'ready', detail: '' };
	#held: HeldRevision | undefined;

	constructor(
		readonly scheduler: SliceScheduler,
		held: HeldRevision,
	) {
		this.#held = held;
	}

	current(): HeldRevision | undefined {
		return this.#held;
	}

	async policyReached(wanted: WantedRevision): Promise<void> {
		const { lineage = '', policyRevision: held } = this.#held ?? {};
		if (held !== undefined && isPast({ lineage, revision: held }, wanted)) return;
		throw new RegolithError('unavailable', `this engine is fixed to the policy of revision ${held ?? 'unknown'}`);
	}

	async stop(): Promise<void> {
		this.#held = undefined;
		this.leases.lose();
	}
}

function asBytes(bytes: Uint8Array | ArrayBuffer): Uint8Array {
	return bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
}

function dataBytes(data: ModuleSource['data']): Uint8Array {
	if (isBytes(data)) return asBytes(data);
	return new TextEncoder().encode(typeof data === 'string' ? data : JSON.stringify(data));
}

async function requireDigest(bytes: Uint8Array, wanted: string, run: Run): Promise<void> {
	if (globalThis.crypto?.subtle === undefined) throw new Error('`sha256` can be verified only in pages over HTTPS');
	const text = await sha256(bytes, run);
	if (text === wanted.toLowerCase()) return;
	throw new Error(`the bundle has the digest ${text}, not ${wanted}`);
}

async function asInvalidBundle<T>(load: () => Promise<T>): Promise<T> {
	try {
		return await load();
	} catch (error) {
		throw new RegolithError('invalid_bundle', errorMessage(error), error);
	}
}
