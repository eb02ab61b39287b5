import { provideProgram } from './debian.mjs';

/**
 * Finds the Chromium of the machine, for the tests of the pages, or installs the one of Debian.
 * @param {(detail: string) => void} say
 */
export function provideChromium(say) {
	const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
	return provideProgram({ names, package: 'chromium', variable: 'CHROMIUM_PATH' }, say);
}

/**
 * Finds Chromium's headless shell, or installs the one of Debian. It shows pages as Chromium does, in two thirds of the
 * processor time, but has no settings of a person, such as which cookies of other sites are kept.
 * @param {(detail: string) => void} say
 */
export function provideHeadlessShell(say) {
	const names = ['chromium-headless-shell', 'chrome-headless-shell'];
	return provideProgram({ names, package: 'chromium-headless-shell', variable: 'HEADLESS_SHELL_PATH' }, say);
}
