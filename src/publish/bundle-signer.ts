/** Signs bundles in OPA's format, which stock OPA and our decision points can verify. */

import { createHash, createPrivateKey, createPublicKey, type KeyObject, webcrypto } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { CompactSign } from 'jose';
import { type BundleFile, signaturesPath } from '../bundle/bundle.js';
import { type Config, ConfigError } from '../config.js';
import { errorMessage } from '../failure.js';
import { inCanonicalForm, isCanonicalDocument, isHashedAsJson } from './canonical-json.js';

/** Signs bundle files with a key. */
export interface BundleSigner {
	/** Identifies the key and its id, in sixteen hexadecimal digits. */
	readonly fingerprint: string;
	/**
	 * Returns the bundle files and their signature, `.signatures.json`. The returned JSON files are in canonical form.
	 */
	sign(files: readonly BundleFile[]): Promise<readonly BundleFile[]>;
}

const setting = 'BUNDLE_SIGNING_KEY_PATH';
/** Signature algorithms by Node.js curve name. */
const curves: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };
/** Minimum RSA key size, in bits. */
const minModulus = 2048;
const fingerprintLength = 16;

/** Reads the configured key; `null` if bundles are not signed. Rejects with `ConfigError`. */
export async function readBundleSigner({ key_path, key_id }: Config['bundle_signing']): Promise<BundleSigner | null> {
	if (key_path === null) return null;
	const key = await privateKeyIn(key_path);
	const alg = signatureAlgorithm(key);
	const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
	const fingerprint = createHash('sha256').update(spki).update(key_id).digest('hex').slice(0, fingerprintLength);
	return {
		fingerprint,
		async sign(files) {
			const canonical = await Promise.all(files.map(canonicalFile));
			const payload = { files: await Promise.all(canonical.map(hashed)), keyid: key_id };
			const token = await new CompactSign(Buffer.from(JSON.stringify(payload)))
				.setProtectedHeader({ alg, kid: key_id, typ: 'JWT' })
				.sign(key);
			const signatures = JSON.stringify({ signatures: [token] });
			return [...canonical, { path: signaturesPath, bytes: Buffer.from(signatures) }];
		},
	};
}

async function privateKeyIn(path: string): Promise<KeyObject> {
	try {
		return createPrivateKey(await readFile(path));
	} catch (error) {
		throw new ConfigError(`${setting}: \`${path}\` is not a PEM private key: ${errorMessage(error)}`);
	}
}

/** Returns the algorithm for a key. Throws `ConfigError` if OPA cannot verify signatures with this kind of key. */
function signatureAlgorithm({ asymmetricKeyType, asymmetricKeyDetails: details }: KeyObject): string {
	const curve = curves[details?.namedCurve ?? ''];
	if (asymmetricKeyType === 'ec' && curve !== undefined) return curve;
	if (asymmetricKeyType === 'rsa' && (details?.modulusLength ?? 0) >= minModulus) return 'RS256';
	const name = details?.namedCurve ?? asymmetricKeyType;
	const size = details?.modulusLength === undefined ? '' : ` of ${details.modulusLength} bits`;
	throw new ConfigError(
		`${setting}: the key must use the curve P-256, P-384 or P-521, or RSA with at least ${minModulus} bits, but it uses ${name}${size}`,
	);
}

async function canonicalFile(file: BundleFile): Promise<BundleFile> {
	const { path, bytes } = file;
	if (!isHashedAsJson(path) || (path === 'data.json' && isCanonicalDocument(bytes))) return file;
	return { path, bytes: await inCanonicalForm(bytes) };
}

async function hashed({ path: name, bytes }: BundleFile) {
	const digest = await webcrypto.subtle.digest('SHA-256', bytes);
	return { name, hash: Buffer.from(digest).toString('hex'), algorithm: 'SHA-256' };
}
