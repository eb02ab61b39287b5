import { execute, findOnPath } from './execute.mjs';

/** What the program is called, in the order of preference. */
const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/**
 * Finds the machine's Chromium, which no npm package brings. Where there is none, installs Debian's if it may: as root, with
 * apt-get. The tests of the pages fail without one, and say what to do.
 * @param {(detail: string) => void} say
 * @returns {Promise<string | undefined>} its path
 */
export async function provideChromium(say) {
	const found = process.env.CHROMIUM_PATH || findChromium();
	if (found) {
		say(found);
		return found;
	}
	if (process.getuid?.() !== 0 || !findOnPath('apt-get')) {
		say('none: install it, or name it in CHROMIUM_PATH');
		return undefined;
	}
	say('installing with apt-get');
	const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
	const updated = await execute('apt-get', ['update', '-qq'], { env });
	const { code, output } = await execute('apt-get', ['install', '-qq', '-y', '--no-install-recommends', 'chromium'], {
		env,
	});
	const installed = findChromium();
	say(installed ?? `apt-get could not install it (code ${code}): ${(output.trim() || updated.output).slice(-300)}`);
	return installed;
}

function findChromium() {
	return names.map((name) => findOnPath(name)).find(Boolean);
}
