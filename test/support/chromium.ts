import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** What the program is called, in the order of preference. */
const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** Quiet: nothing of its own over the network. As root it can only run without a sandbox. */
const parameters = [
	...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
	'--disable-quic',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	'--no-first-run',
];

/** Starts the machine's own Chromium, without a window. Throws with what to do when there is none. */
export async function startChromium(): Promise<Browser> {
	return chromium.launch({ executablePath: findChromium(), args: parameters });
}

function findChromium(): string {
	const { CHROMIUM_PATH, PATH = '' } = process.env;
	if (CHROMIUM_PATH) return CHROMIUM_PATH;
	const found = PATH.split(delimiter)
		.flatMap((folder) => names.map((name) => join(folder, name)))
		.find(isExecutable);
	if (found !== undefined) return found;
	throw new Error(
		'The tests of the pages need Chromium, and none is on PATH. Install it (on Debian: apt-get install chromium), or name it in CHROMIUM_PATH.',
	);
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
