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
	encrypt(secret: string): Buffer;
	/** Throws when the bytes were not made under this key. */
	decrypt(sealed: Uint8Array): string;
	/** 32 bytes that only this key gives for this purpose. They tell nothing of the key, nor of those for others. */
	derive(purpose: string): Buffer;
}

/** The key that signs what a webhook is sent. A webhook that is made anew has another one. */
export function webhookSigningKey(cipher: Cipher, webhookId: string): Buffer {
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

/** AES-256-GCM under a 32-byte key; the sealed form is iv, tag, ciphertext. */
export function createCipher(key: Buffer): Cipher {
	return {
		encrypt(secret) {
			const iv = randomBytes(ivBytes);
			const cipher = createCipheriv('aes-256-gcm', key, iv);
			const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
			return Buffer.concat([iv, cipher.getAuthTag(), text]);
		},
		decrypt(sealed) {
			const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes));
			decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes));
			return decipher.update(sealed.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
		},
		derive: (purpose) => Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `regolith ${purpose}`, 32)),
	};
}
