import type { BundleFile } from '../bundle/bundle.js';
import { pack } from '../bundle/pack.js';
import type { BundleSigner } from './bundle-signer.js';

/** Packs bundles, and signs them where the settings say so. */
export class BundlePacker {
	constructor(private readonly signer: BundleSigner | null) {}

	/** Tells by which key bundles are signed; `undefined` when they are not. */
	get signedBy(): string | undefined {
		return this.signer?.fingerprint;
	}

	/** A bundle of these files. */
	async pack(files: readonly BundleFile[]): Promise<Uint8Array> {
		return pack(this.signer === null ? files : await this.signer.sign(files));
	}
}
