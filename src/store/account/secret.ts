import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const prefix = 'permit_key_';
const ivBytes = 12;
const tagBytes = 16;

/** Returns a new API key secret: 99 characters, with 528 random bits after the prefix expected by clients. */
export function newSecret(): string {
	return prefix + randomBytes(66).toString('base64url');
}

/** Returns a new secret for a session or a ticket: 43 characters, 256 random bits. */
export function newToken(): string {
	return randomBytes(32).toString('base64url');
}

/** Returns a secret's lookup hash. Secrets are long and random, so a fast hash is enough. */
export function hashSecret(secret: string): Buffer {
	return createHash('sha256').update(secret).digest();
}

/** Compares two hashes in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
	return a.length === b.length && timingSafeEqual(a, b);
}

/** Encrypts secrets that the API must be able to return, under the server's key. */
export interface Cipher {
	/** True if the server's previous key is also known. */
	readonly hasPrevious: boolean;
	encrypt(secret: string): Buffer;
	/** Throws if the bytes were encrypted under neither key. */
	decrypt(sealed: Uint8Array): string;
	/**
	 * Re-encrypts a secret under the current key. Returns `null` if the secret is already encrypted under the current
	 * key. Throws like `decrypt`.
	 */
	renew(sealed: Uint8Array): Buffer | null;
	/**
	 * Derives 32 bytes for a purpose from the current key, and from the previous key if it is known, in this order. The
	 * bytes reveal nothing about the keys or about the bytes for other purposes.
	 */
	derive(purpose: string): readonly [Buffer, ...Buffer[]];
}

/** Returns the keys for signing a webhook's events, current key first. A new webhook has new keys. */
export function webhookSigningKeys(cipher: Cipher, webhookId: string): readonly [Buffer, ...Buffer[]] {
	return cipher.derive(`webhook ${webhookId}`);
}

/** Returns true if the bytes are this secret in encrypted form. Returns false if they cannot be decrypted. */
export function isSealed(cipher: Cipher, sealed: Uint8Array, secret: string): boolean {
	try {
		return sameHash(hashSecret(cipher.decrypt(sealed)), hashSecret(secret));
	} catch {
		return false;
	}
}

/**
 * Creates a cipher that uses AES-256-GCM with 32-byte keys. Sealed format: iv, tag, ciphertext. Also decrypts under
 * `previous`.
 */
export function createCipher(key: Buffer, previous: Buffer | null = null): Cipher {
	const decrypt = (sealed: Uint8Array): { readonly secret: string; readonly isCurrent: boolean } => {
		try {
			return { secret: decryptUnder(key, sealed), isCurrent: true };
		} catch (error) {
			if (previous === null) throw error;
			return { secret: decryptUnder(previous, sealed), isCurrent: false };
		}
	};
	return {
		hasPrevious: previous !== null,
		encrypt: (secret) => encryptUnder(key, secret),
		decrypt: (sealed) => decrypt(sealed).secret,
		renew(sealed) {
			const { secret, isCurrent } = decrypt(sealed);
			return isCurrent ? null : encryptUnder(key, secret);
		},
		derive(purpose) {
			const from = (source: Buffer) =>
				Buffer.from(hkdfSync('sha256', source, Buffer.alloc(0), `regolith ${purpose}`, 32));
			return [from(key), ...(previous === null ? [] : [from(previous)])];
		},
	};
}

function encryptUnder(key: Buffer, secret: string): Buffer {
	const iv = randomBytes(ivBytes);
	const cipher = createCipheriv('aes-256-gcm', key, iv);
	const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
	return Buffer.concat([iv, cipher.getAuthTag(), text]);
}

function decryptUnder(key: Buffer, sealed: Uint8Array): string {
	const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes));
	decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
	return decipher.update(sealed.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
}
