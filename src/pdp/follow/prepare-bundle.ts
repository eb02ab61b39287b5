import {
	BundleError,
	type Degradation,
	type Manifest,
	parseManifest,
	parsePatches,
	parsePatchesInSteps,
	unpack,
} from '../../bundle/bundle.js';
import type { DecidingEngine, Engine, Run } from '../engine/engine.js';
import type { FactsIndex } from '../facts/facts-index.js';
import type { VerifyBundle } from './bundle-verifier.js';
import type { FeedBundle } from './feed-client.js';
import type { Leases } from './leases.js';
import type { Lineages } from './lineages.js';
import { compileModule, type EngineAndIndex, loadSnapshot } from './load-snapshot.js';

/** Engine and facts at a revision, ready for checks. */
export interface LoadedRevision {
	readonly engine: DecidingEngine;
	readonly facts: FactsIndex;
	/** The revision's lineage; empty if the control plane does not send it. */
	readonly lineage: string;
	readonly revision: number;
	/** The revision's random token; empty if the control plane does not send it. */
	readonly token: string;
	/**
	 * Newest revision whose policy is active here. Same as `revision`, unless the policy of `revision` is still pending.
	 */
	readonly policyRevision: number;
	/** Reason why the active policy is not the newest schema's complete policy; `null` if it is. */
	readonly degraded: Degradation | null;
}

/** A revision from the feed, which later bundles continue. */
export interface FeedRevision extends LoadedRevision, EngineAndIndex {
	readonly engine: Engine;
	/** Kind of the bundle that led to this revision. */
	readonly kind: Manifest['metadata']['regolith']['kind'];
	readonly environment: string;
	/** Last applied refresh; `null` before the first refresh. */
	readonly updateId: string | null;
	/** Feed ETag for this revision. */
	readonly etag: string;
}

/** The bundle belongs to a different environment. */
export class ForeignBundle extends BundleError {}

/** State of a replica when a bundle arrives, and the dependencies for preparing the bundle. */
export interface TargetState {
	readonly environment: string;
	/** Revision in use. */
	readonly held: FeedRevision | undefined;
	/** Loaded snapshot that is not in use yet. A delta continues this snapshot, or else `held`. */
	readonly next: FeedRevision | undefined;
	/** True if the request was for a snapshot, which may be older than `held`. */
	readonly wantsSnapshot: boolean;
	readonly lineages: Lineages;
	readonly leases: Leases;
	/** Verifies the bundle before its files are read. Without this callback, bundles are not verified. */
	readonly verify: VerifyBundle | undefined;
	readonly run: Run;
}

/**
 * Maximum patch file size to apply without a pause, in bytes. This is about a thousand patches, and takes a few
 * milliseconds. Larger patch files are applied to a copy, in slices.
 */
const maxAtOnce = 128 * 1024;

/**
 * Checks a bundle and prepares its revision. Rejects with `BundleError` if the replica must not use the bundle. The
 * resolved function may patch the engine in use, so its caller must use the returned revision without `await`.
 */
export async function prepareBundle(
	{ bytes, etag, updateId }: FeedBundle,
	target: TargetState,
): Promise<() => FeedRevision> {
	const { run, verify } = target;
	const files = await unpack(bytes);
	await verify?.(files, run);
	const manifest = parseManifest(files);
	refuseUnfit(manifest, target);
	const isLarge = (files.get('patch.json')?.byteLength ?? 0) > maxAtOnce;
	const patches = isLarge ? await run(parsePatchesInSteps(files)) : parsePatches(files);
	const { engine, facts, used } = await prepareTarget(manifest, files, isLarge, target);
	if (!used) {
		await run(engine.patching(patches));
		await run(facts.patching(patches));
	}
	const step = manifest.metadata.regolith;
	const { kind, lineage, token, policy_revision, degraded } = step;
	return () => {
		if (used) {
			engine.patch(patches);
			facts.patch(patches);
		}
		if (step.kind === 'snapshot') target.lineages.end(step.former_lineages, lineage);
		return {
			kind,
			engine,
			facts,
			lineage,
			token,
			revision: Number(manifest.revision),
			policyRevision: Number(policy_revision),
			degraded,
			updateId: updateId ?? (target.next ?? target.held)?.updateId ?? null,
			etag,
			environment: target.environment,
		};
	};
}

function refuseUnfit({ revision, metadata }: Manifest, target: TargetState): void {
	const { environment, lineage, kind } = metadata.regolith;
	const { held, next, lineages } = target;
	if (environment !== target.environment) {
		throw new ForeignBundle(`the feed sent a bundle of environment ${environment}`);
	}
	const base = next ?? held;
	if (kind !== 'snapshot' && base !== undefined && base.lineage !== lineage) {
		throw new BundleError(
			`the feed sent a ${kind} of lineage ${lineage}, but the current data has lineage ${base.lineage}`,
		);
	}
	// This may be a replayed old step. If it were applied to newer data, the result would be a state that never existed.
	if (kind !== 'snapshot' && base !== undefined && Number(revision) < base.revision) {
		throw new BundleError(
			`the feed sent a ${kind} to revision ${revision}, but the current data has revision ${base.revision}`,
		);
	}
	// If a requested snapshot is old, the next response contains the newer revisions.
	const mayGoBack = next !== undefined || target.wantsSnapshot;
	lineages.refuseGoingBack({ lineage, revision: Number(revision) }, mayGoBack ? undefined : held);
}

/**
 * Returns the engine and the index to patch. `used` is true if they already serve checks. Returns copies if the
 * originals are being read over several turns, if the change would take too long, or if the policy is new.
 */
async function prepareTarget(
	{ metadata: { regolith: step } }: Manifest,
	files: ReadonlyMap<string, Uint8Array>,
	isLarge: boolean,
	{ held, next, leases, run }: TargetState,
): Promise<EngineAndIndex & { readonly used: boolean }> {
	if (step.kind === 'snapshot') return { ...(await loadSnapshot(files, run)), used: false };
	const base = next ?? held;
	if (base === undefined || base.engine.broken !== undefined || Number(step.base) > base.revision) {
		throw new BundleError(`a ${step.kind} from revision ${step.base} does not continue the current data`);
	}
	const { engine, facts } = base;
	if (step.kind === 'delta' && base === next) return { engine, facts, used: false };
	// A copy takes about a millisecond per MiB.
	if (step.kind === 'delta' && !isLarge && (await leases.settle(engine.heapBytes / 1024 ** 2)) === 'in place') {
		return { engine, facts, used: true };
	}
	const copy = step.kind === 'policy' ? engine.fork(await compileModule(files), run) : engine.copy(run);
	return { engine: await copy, facts: await run(facts.copying()), used: false };
}
