import { type Browser, chromium } from 'playwright-core';

/** Disables Chromium's background network traffic. As root, Chromium runs only without a sandbox. */
const parameters = [
	...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
	'--disable-quic',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	'--no-first-run',
];

/**
 * Starts the installed Chromium without a window. Uses the headless shell if it is installed, unless the test needs the
 * full browser, for example for cross-site cookies. If there is no Chromium, throws with instructions.
 */
export async function startChromium(needed: 'page' | 'browser' = 'page'): Promise<Browser> {
	return chromium.launch({ executablePath: chromiumPath(needed), args: parameters });
}

function chromiumPath(needed: 'page' | 'browser'): string {
	const path = (needed === 'page' && process.env['HEADLESS_SHELL_PATH']) || process.env['CHROMIUM_PATH'];
	if (path) return path;
	throw new Error(
		'Page tests need Chromium, and `npm test` found none. Install it (`npm run setup:browser`), or set CHROMIUM_PATH to its path.',
	);
}
