import type { BundleFile } from '../bundle/bundle.js';
import { pack } from '../bundle/pack.js';
import type { BundleSigner } from './bundle-signer.js';

/** Packs bundles, and signs them if configured. */
export class BundlePacker {
	constructor(private readonly signer: BundleSigner | null) {}

	/** Identifies the signing key; `undefined` if bundles are not signed. */
	get signedBy(): string | undefined {
		return this.signer?.fingerprint;
	}

	async pack(files: readonly BundleFile[]): Promise<Uint8Array> {
		return pack(this.signer === null ? files : await this.signer.sign(files));
	}
}
