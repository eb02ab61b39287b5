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
 * Loads the engine of one environment. With `controlPlane` it resolves when the newest revision is in use, and follows
 * what comes after. Rejects with `RegolithError`: `invalid_source`, `invalid_bundle`, `refused` or `unavailable`.
 */
export async function loadEngine(source: EngineSource): Promise<LoadedEngine> {
	return new QuestionAnswerer(await load(source));
}

function load(source: EngineSource): Promise<RevisionHolder> {
	// Callers in plain JavaScript may pass anything.
	const given = Object(source) as Partial<BundleSource & ControlPlaneSource & ModuleSource>;
	const { bundle, sha256, controlPlane, apiKey, timeout, module, data } = given;
	if (isBytes(bundle) && (sha256 === undefined || typeof sha256 === 'string')) {
		return loadBundle(sha256 === undefined ? { bundle } : { bundle, sha256 });
	}
	if (typeof controlPlane === 'string' && URL.canParse(controlPlane) && typeof apiKey === 'string') {
		return followControlPlane(timeout === undefined ? { controlPlane, apiKey } : { controlPlane, apiKey, timeout });
	}
	if (hasTag(module, 'WebAssembly.Module') && data !== undefined && data !== null) return loadModule({ module, data });
	const forms = '{ bundle }, { controlPlane, apiKey } or { module, data }';
	return Promise.reject(new RegolithError('invalid_source', `an engine is loaded from ${forms}`));
}
