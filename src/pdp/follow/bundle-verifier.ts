/** Verifies bundle signatures before any other bundle file is read. */

import { type CryptoKey, compactVerify } from 'jose';
import { z } from 'zod';
import { SignatureError, signaturesPath } from '../../bundle/bundle.js';
import { errorMessage } from '../../failure.js';
import type { Run } from '../engine/engine.js';
import { sha256 } from './sha256.js';

/** Verifies an unpacked bundle. Rejects with `SignatureError` if the bundle must not be used. */
export type VerifyBundle = (files: ReadonlyMap<string, Uint8Array>, run: Run) => Promise<void>;

interface VerificationKey {
	readonly algorithm: string;
	readonly key: CryptoKey;
}

/** Web Crypto parameters per algorithm. A key can be imported for at most one algorithm. */
const algorithms = {
	ES256: { name: 'ECDSA', namedCurve: 'P-256' },
	ES384: { name: 'ECDSA', namedCurve: 'P-384' },
	ES512: { name: 'ECDSA', namedCurve: 'P-521' },
	RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
};
/** A single public key in PEM. */
const pemForm = /^\s*-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*$/;
/** Maximum `.signatures.json` size in bytes. Enough for a single signature over the few files of a bundle. */
const maxSignatures = 64 * 1024;

const Signatures = z.object({ signatures: z.tuple([z.string()]) });
const Payload = z.object({
	files: z.array(z.object({ name: z.string(), hash: z.string(), algorithm: z.literal('SHA-256') })),
	// OPA scopes limit a signature to a purpose. Our signatures are bound to an environment by the manifest.
	scope: z.literal('').optional(),
});
type Payload = z.output<typeof Payload>;

/**
 * Creates a verifier for public keys in PEM (SPKI). A bundle must contain a single signature, by any of these keys,
 * over all files. Rejects with an `Error` if a key does not fit any known algorithm.
 */
export async function createBundleVerifier(pems: readonly string[]): Promise<VerifyBundle> {
	const keys = await Promise.all(pems.map(importKey));
	return async (files, run) => {
		const { files: signed } = await signedPayload(tokenIn(files), keys);
		const hashes = new Map(signed.map(({ name, hash }) => [name, hash]));
		for (const [name, bytes] of files) {
			if (name === signaturesPath) continue;
			const hash = hashes.get(name);
			if (hash === undefined) throw new SignatureError(`the signature of the bundle does not cover \`${name}\``);
			if (hash !== (await sha256(bytes, run))) throw new SignatureError(`\`${name}\` differs from the signed file`);
			hashes.delete(name);
		}
		const [missing] = hashes.keys();
		if (missing !== undefined) throw new SignatureError(`the signed file \`${missing}\` is missing in the bundle`);
	};
}

async function importKey(pem: string): Promise<VerificationKey> {
	const [, text = ''] = pemForm.exec(pem) ?? [];
	const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
	for (const [algorithm, parameters] of Object.entries(algorithms)) {
		const key = await crypto.subtle.importKey('spki', bytes, parameters, false, ['verify']).catch(() => undefined);
		if (key !== undefined) return { algorithm, key };
	}
	throw new Error('must be a public key in PEM format: P-256, P-384, P-521 or RSA');
}

function tokenIn(files: ReadonlyMap<string, Uint8Array>): string {
	const bytes = files.get(signaturesPath);
	if (bytes === undefined) throw new SignatureError('the bundle is not signed');
	if (bytes.length > maxSignatures) throw new SignatureError(`\`${signaturesPath}\` is too large`);
	return understood(Signatures, bytes).signatures[0];
}

/** Returns the payload from a token signed by a trusted key. */
async function signedPayload(token: string, keys: readonly VerificationKey[]): Promise<Payload> {
	for (const { algorithm, key } of keys) {
		const verified = await compactVerify(token, key, { algorithms: [algorithm] }).catch(() => undefined);
		if (verified !== undefined) return understood(Payload, verified.payload);
	}
	throw new SignatureError('the bundle is not signed by a trusted key');
}

function understood<T>(schema: z.ZodType<T>, bytes: Uint8Array): T {
	try {
		return schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
	} catch (error) {
		throw new SignatureError(`the bundle signature is invalid: ${errorMessage(error)}`);
	}
}
