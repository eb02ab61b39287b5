import { findProgram, installProgram } from './debian.mjs';

const chromium = {
	names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
	package: 'chromium',
	variable: 'CHROMIUM_PATH',
};

/**
 * Chromium's headless shell renders pages like Chromium and needs only two thirds of the CPU time. It lacks user
 * settings, such as rules for third-party cookies.
 */
const headlessShell = {
	names: ['chromium-headless-shell', 'chrome-headless-shell'],
	package: 'chromium-headless-shell',
	variable: 'HEADLESS_SHELL_PATH',
};

/** Finds the installed Chromium, for page tests. */
export const findChromium = (say) => findProgram(chromium, say);

/** Finds the installed headless shell. */
export const findHeadlessShell = (say) => findProgram(headlessShell, say);

/** Installs Debian's Chromium if none is installed. */
export const installChromium = (say) => installProgram(chromium, say);

/** Installs Debian's headless shell if none is installed. */
export const installHeadlessShell = (say) => installProgram(headlessShell, say);
