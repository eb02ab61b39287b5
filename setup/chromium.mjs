import { provideProgram } from './debian.mjs';

/**
 * Finds the Chromium of the machine, for the tests of the pages, or installs the one of Debian.
 * @param {(detail: string) => void} say
 */
export function provideChromium(say) {
	const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
	return provideProgram({ names, package: 'chromium', variable: 'CHROMIUM_PATH' }, say);
}
