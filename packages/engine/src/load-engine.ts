import { errorMessage } from '../../../src/failure.js';
import { createBundleVerifier, type VerifyBundle } from '../../../src/pdp/follow/bundle-verifier.js';
import {
	type BundleSource,
	type ControlPlaneSource,
	type EngineSource,
	type LoadedEngine,
	type ModuleSource,
	RegolithError,
} from './api.js';
import { hasTag, isBytes } from './class-tag.js';
import { loadBundle, loadModule } from './fixed-revision.js';
import { followControlPlane } from './followed-revision.js';
import type { RevisionHolder } from './held-revision.js';
import { QuestionAnswerer } from './question-answerer.js';

/**
 * Loads an environment's engine. With `controlPlane`, resolves when the newest revision is in use, and follows later
 * revisions. Rejects with `RegolithError`: `invalid_source`, `invalid_bundle`, `refused` or `unavailable`.
 */
export async function loadEngine(source: EngineSource): Promise<LoadedEngine> {
	return new QuestionAnswerer(await load(source));
}

async function load(source: EngineSource): Promise<RevisionHolder> {
	// Callers in plain JavaScript may pass anything.
	const given = Object(source) as Partial<BundleSource & ControlPlaneSource & ModuleSource>;
	const { bundle, sha256, controlPlane, apiKey, timeout, module, data, verificationKeys } = given;
	if (isBytes(bundle) && (sha256 === undefined || typeof sha256 === 'string')) {
		const verify = await verifier(verificationKeys);
		return loadBundle(sha256 === undefined ? { bundle } : { bundle, sha256 }, verify);
	}
	if (typeof controlPlane === 'string' && URL.canParse(controlPlane) && typeof apiKey === 'string') {
		const verify = await verifier(verificationKeys);
		const followed = timeout === undefined ? { controlPlane, apiKey } : { controlPlane, apiKey, timeout };
		return followControlPlane(followed, verify);
	}
	if (hasTag(module, 'WebAssembly.Module') && data !== undefined && data !== null) return loadModule({ module, data });
	const forms = '{ bundle }, { controlPlane, apiKey } or { module, data }';
	throw new RegolithError('invalid_source', `the source of an engine must be ${forms}`);
}

/** Creates a bundle verifier for the keys. Returns `undefined` if no keys are passed. Rejects with `invalid_source`. */
async function verifier(keys: unknown): Promise<VerifyBundle | undefined> {
	if (keys === undefined) return undefined;
	try {
		if (globalThis.crypto?.subtle === undefined) throw new Error('verification keys work only in pages over HTTPS');
		if (!isKeys(keys)) throw new Error('must be a list of public keys in PEM format');
		return await createBundleVerifier(keys);
	} catch (error) {
		throw new RegolithError('invalid_source', `verificationKeys: ${errorMessage(error)}`, error);
	}
}

function isKeys(keys: unknown): keys is readonly string[] {
	return Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'string');
}
