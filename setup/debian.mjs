import { execute, findOnPath } from './execute.mjs';

/**
 * Finds a program that is in no npm package. If it is missing, installs the package of Debian, which needs root and apt-get.
 * Tests that need the program fail without it, and say what to do.
 * @param {{names: readonly string[], package: string, variable: string}} wanted what it is called, in the order of
 *   preference; Debian's package; the variable that names another one
 * @param {(detail: string) => void} say
 * @returns {Promise<string | undefined>} its path
 */
export async function provideProgram({ names, package: debian, variable }, say) {
	const find = () => names.map((name) => findOnPath(name)).find(Boolean);
	const found = process.env[variable] || find();
	if (found) {
		say(found);
		return found;
	}
	if (process.getuid?.() !== 0 || !findOnPath('apt-get')) {
		say(`none: install it, or name it in ${variable}`);
		return undefined;
	}
	say('installing with apt-get');
	// Without this, installing Prometheus would start it as a service.
	const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
	const updated = await execute('apt-get', ['update', '-qq'], { env });
	const { code, output } = await execute('apt-get', ['install', '-qq', '-y', '--no-install-recommends', debian], {
		env,
	});
	const installed = find();
	say(installed ?? `apt-get could not install it (code ${code}): ${(output.trim() || updated.output).slice(-300)}`);
	return installed;
}
