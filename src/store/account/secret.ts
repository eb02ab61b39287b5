import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const prefix = 'permit_key_';
const ivBytes = 12;
const tagBytes = 16;

/** A new API key secret: 99 characters, 528 random bits after the prefix clients look for. */
export function newSecret(): string {
	return prefix + randomBytes(66).toString('base64url');
}

/** A new secret of a session: 43 characters, 256 random bits. */
export function newToken(): string {
	return randomBytes(32).toString('base64url');
}

/** The hash by which a stored secret is found. Secrets are long and random, so a fast hash is enough. */
export function hashSecret(secret: string): Buffer {
	return createHash('sha256').update(secret).digest();
}

/** Compares two hashes in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
	return a.length === b.length && timingSafeEqual(a, b);
}

/** Encrypts secrets that the API has to be able to return, under the server's own key. */
export interface Cipher {
	/** True while the server's previous key is known, too. */
	readonly hasPrevious: boolean;
	encrypt(secret: string): Buffer;
	/** Throws when the bytes were made under neither key. */
	decrypt(sealed: Uint8Array): string;
	/** The same secret encrypted under the current key; `null` if it is already. Throws as `decrypt`. */
	renew(sealed: Uint8Array): Buffer | null;
	/**
	 * 32 bytes for a purpose, derived from the current key, then from the previous key if it is known. They tell nothing
	 * of the keys, nor of the bytes for another purpose.
	 */
	derive(purpose: string): readonly [Buffer, ...Buffer[]];
}

/** The keys that sign the events of a webhook, the current one first. A new webhook has new keys. */
export function webhookSigningKeys(cipher: Cipher, webhookId: string): readonly [Buffer, ...Buffer[]] {
	return cipher.derive(`webhook ${webhookId}`);
}

/** Whether bytes are this secret, encrypted. Bytes that cannot be decrypted are none. */
export function isSealed(cipher: Cipher, sealed: Uint8Array, secret: string): boolean {
	try {
		return sameHash(hashSecret(cipher.decrypt(sealed)), hashSecret(secret));
	} catch {
		return false;
	}
}

/** AES-256-GCM under 32-byte keys; the sealed form is iv, tag, ciphertext. Decrypts under `previous` as well. */
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
