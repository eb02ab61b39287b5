import { aliasRoot, entrypoints } from '../../compiler/opa/build.js';
import type { ManifestParts } from '../bundle/bundle.js';
import type { Flavour } from './flavour.js';
import type { LiveHead } from './head.js';

/** Returns the manifest contents for a bundle that leads to a head. */
export function manifestParts(
	environment: string,
	{ lineage, revision, token, digest, policy_revision, degraded }: LiveHead,
	step: ManifestParts['step'],
	flavour: Flavour,
): ManifestParts {
	const parts = {
		lineage,
		revision,
		token,
		environment,
		policy: digest,
		policyRevision: policy_revision,
		degraded,
		step,
	};
	return flavour === 'wasm' ? { ...parts, entrypoints } : { ...parts, roots: [aliasRoot] };
}
