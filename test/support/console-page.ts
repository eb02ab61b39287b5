import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Stack } from './stack.js';

/** Driving the console in Chromium. */

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How long a page may take to show something, in milliseconds: generous, because a busy machine must not fail a test. */
const patience = 60_000;

/** How a window looks. */
export interface WindowOptions {
	/** The secret of the key to sign in with; that of the environment, unless given. */
	readonly key?: string;
	readonly width?: 1280 | 390;
	readonly dark?: boolean;
}

/** A window of the console, in a browser context of its own. */
export interface ConsoleWindow {
	readonly page: Page;
	readonly context: BrowserContext;
	/** What went wrong in the page: errors of scripts, refused resources, requests to other hosts. */
	readonly faults: readonly string[];
	/** Opens a screen of the environment `dev`, with its query, and waits until it is there. */
	open(screen: string): Promise<void>;
	close(): Promise<void>;
}

/** Opens a window and signs in by key. */
export async function openConsole(
	browser: Browser,
	{ api, keys }: Pick<Stack, 'api' | 'keys'>,
	{ key = keys.environment, width = 1280, dark = false }: WindowOptions = {},
): Promise<ConsoleWindow> {
	const context = await browser.newContext({
		viewport: { width, height: 800 },
		colorScheme: dark ? 'dark' : 'light',
		reducedMotion: 'reduce',
	});
	context.setDefaultTimeout(patience);
	const page = await context.newPage();
	const faults: string[] = [];
	const { url } = api.listening;
	page.on('pageerror', (error) => faults.push(error.message));
	page.on('console', (message) => {
		// A status that is no success is told there, too: that is for tests to look at.
		if (message.type() === 'error' && !message.text().includes('the server responded')) faults.push(message.text());
	});
	page.on('request', (request) => {
		const { protocol, origin } = new URL(request.url());
		if (origin !== url && protocol !== 'data:' && protocol !== 'blob:') faults.push(`asked ${request.url()}`);
	});
	await page.goto(`${url}/console/default/dev/check`);
	await page.getByLabel('API key').fill(key);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.getByRole('button', { name: 'Sign out' }).waitFor();
	return {
		page,
		context,
		faults,
		open: async (screen) => {
			await page.goto(`${url}/console/default/dev/${screen}`);
			await page.locator('main h1').waitFor();
		},
		close: () => context.close(),
	};
}

/** What axe finds on a page that is serious or critical, a line each. */
export async function seriousViolations(page: Page): Promise<unknown> {
	await page.evaluate(axe);
	return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
		.filter(({ impact }) => ['serious', 'critical'].includes(impact))
		.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`);
}

/** By how many pixels a page is wider than its window, so that all of it scrolls sideways. */
export async function overflowWidth(page: Page): Promise<unknown> {
	return page.evaluate('Math.max(0, document.documentElement.scrollWidth - window.innerWidth)');
}
