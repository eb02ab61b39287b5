import { type Browser, chromium } from 'playwright-core';

/** Quiet: nothing of its own over the network. As root it can only run without a sandbox. */
const parameters = [
	...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
	'--disable-quic',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	'--no-first-run',
];

/**
 * Starts the machine's own Chromium, without a window: its headless shell, where there is one, unless the whole browser is
 * needed, as it is for cookies of other sites. Throws with what to do when there is none.
 */
export async function startChromium(needed: 'page' | 'browser' = 'page'): Promise<Browser> {
	return chromium.launch({ executablePath: chromiumPath(needed), args: parameters });
}

function chromiumPath(needed: 'page' | 'browser'): string {
	const path = (needed === 'page' && process.env['HEADLESS_SHELL_PATH']) || process.env['CHROMIUM_PATH'];
	if (path) return path;
	throw new Error(
		'The tests of the pages need Chromium, and `npm test` found none and could not install it. Install it (on Debian: apt-get install chromium), or name it in CHROMIUM_PATH.',
	);
}
