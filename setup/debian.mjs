import { execute, findOnPath } from './execute.mjs';

/**
 * @typedef {object} Program A program that no npm package contains.
 * @property {readonly string[]} names its names, in order of preference
 * @property {string} package Debian's package
 * @property {string} variable the environment variable that sets a different path
 */

/**
 * Finds a program.
 * @param {Program} program
 * @param {(detail: string) => void} say
 * @returns {string | undefined} its path
 */
export function findProgram({ names, variable }, say) {
	const found = process.env[variable] || names.map((name) => findOnPath(name)).find(Boolean);
	say(found ?? `not found: install it, or set ${variable} to its path`);
	return found;
}

/**
 * Finds a program, or installs Debian's package. The installation needs root and apt-get.
 * @param {Program} program
 * @param {(detail: string) => void} say
 * @returns {Promise<string | undefined>} its path
 */
export async function installProgram(program, say) {
	const found = findProgram(program, say);
	if (found || process.getuid?.() !== 0 || !findOnPath('apt-get')) return found;
	say('installing with apt-get');
	// Without RUNLEVEL, installing Prometheus would start a service.
	const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
	const updated = await execute('apt-get', ['update', '-qq'], { env });
	const parameters = ['install', '-qq', '-y', '--no-install-recommends', program.package];
	const { code, output } = await execute('apt-get', parameters, { env });
	const installed = findProgram(program, say);
	if (!installed) say(`apt-get could not install it (code ${code}): ${(output.trim() || updated.output).slice(-300)}`);
	return installed;
}
