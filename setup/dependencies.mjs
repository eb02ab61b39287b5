import { npmCi } from './npm-ci.mjs';

/**
 * Installs the locked dependencies if they are missing or the lock file changed.
 * @param {string} root the package's folder
 * @param {(detail: string) => void} say
 */
export async function installDependencies(root, say) {
	await npmCi(root, ['package-lock.json'], say);
}
