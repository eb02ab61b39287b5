import { findProgram, installProgram } from './debian.mjs';

const chromium = {
	names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
	package: 'chromium',
	variable: 'CHROMIUM_PATH',
};

/**
 * Chromium's headless shell shows pages as Chromium does, in two thirds of the processor time, but has no settings of a
 * person, such as which cookies of other sites are kept.
 */
const headlessShell = {
	names: ['chromium-headless-shell', 'chrome-headless-shell'],
	package: 'chromium-headless-shell',
	variable: 'HEADLESS_SHELL_PATH',
};

/** Finds the Chromium of the machine, for the page tests. */
export const findChromium = (say) => findProgram(chromium, say);

/** Finds the headless shell of the machine. */
export const findHeadlessShell = (say) => findProgram(headlessShell, say);

/** Installs Debian's Chromium where the machine has none. */
export const installChromium = (say) => installProgram(chromium, say);

/** Installs Debian's headless shell where the machine has none. */
export const installHeadlessShell = (say) => installProgram(headlessShell, say);
