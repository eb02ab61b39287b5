import { readFile } from 'node:fs/promises';
import { ConfigError } from '../../config.js';
import { errorMessage } from '../../failure.js';
import { createBundleVerifier, type VerifyBundle } from './bundle-verifier.js';

const setting = 'PDP_BUNDLE_VERIFICATION_KEY_PATHS';

/**
 * Creates a bundle verifier from public key files with one key each. Returns `undefined` if `paths` is empty. Rejects
 * with `ConfigError`.
 */
export async function readBundleVerifier(paths: readonly string[]): Promise<VerifyBundle | undefined> {
	if (paths.length === 0) return undefined;
	return createBundleVerifier(await Promise.all(paths.map(publicKeyIn)));
}

async function publicKeyIn(path: string): Promise<string> {
	try {
		const pem = await readFile(path, 'utf8');
		await createBundleVerifier([pem]);
		return pem;
	} catch (error) {
		throw new ConfigError(`${setting}: \`${path}\` is not usable: ${errorMessage(error)}`);
	}
}
