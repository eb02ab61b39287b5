import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unpack } from '../../src/bundle/bundle.js';
import { BundlePacker } from '../../src/publish/bundle-packer.js';
import { readBundleSigner } from '../../src/publish/bundle-signer.js';

/** Key types for bundle signing, keyed by OPA's algorithm names. */
export const keyKinds = {
	ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
	ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
	ES512: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
	RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
} as const;

export interface KeyFiles {
	readonly privatePath: string;
	readonly publicPath: string;
	/** Public key in PEM. */
	readonly publicKey: string;
}

/** Creates a key pair in a folder. */
export function makeKeys(folder: string, name: string, algorithm: keyof typeof keyKinds = 'ES256'): KeyFiles {
	const pair = keyKinds[algorithm]();
	const [privatePath, publicPath] = [join(folder, `${name}.key`), join(folder, `${name}.pub`)];
	const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
	writeFileSync(privatePath, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
	writeFileSync(publicPath, publicKey);
	return { privatePath, publicPath, publicKey };
}

/** Returns a packer with a signing key. */
export async function signingPacker(key_path: string, key_id = 'default'): Promise<BundlePacker> {
	return new BundlePacker(await readBundleSigner({ key_path, key_id }));
}

/** Returns the signed bundle. */
export async function signed(packer: BundlePacker, bundle: Uint8Array): Promise<Uint8Array> {
	return packer.pack([...(await unpack(bundle))].map(([path, bytes]) => ({ path, bytes })));
}
