import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { root } from './root.js';
import type { Stack } from './stack.js';

/** Drives the console in Chromium. */

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Time limit for content to appear on a page, in milliseconds. It is generous, so tests do not fail on a busy machine.
 */
const patience = 60_000;

/** Appearance, API key and environment of a window. */
export interface WindowOptions {
	/** API key to sign in with; the environment's key by default. */
	readonly key?: string;
	/** Environment in the project `default`; `dev` by default. */
	readonly environment?: string;
	readonly width?: 1280 | 1024 | 390;
	readonly dark?: boolean;
}

/** A console window in its own browser context. */
export interface ConsoleWindow {
	readonly page: Page;
	readonly context: BrowserContext;
	/** Script errors, errors in the browser's console, and requests to other hosts. */
	readonly faults: readonly string[];
	/** Opens a screen in the environment, and waits until it is shown. `screen` may include a query. */
	open(screen: string): Promise<void>;
	close(): Promise<void>;
}

/** Closes the browser and stops the stack, unless they failed to start. */
export async function closeScene(browser: Browser | undefined, stack: Stack | undefined): Promise<void> {
	await browser?.close();
	await stack?.stop();
}

/** Opens a window and signs in with a key. */
export async function openConsole(
	browser: Browser,
	{ api, keys }: Pick<Stack, 'api' | 'keys'>,
	{ key = keys.environment, environment = 'dev', width = 1280, dark = false }: WindowOptions = {},
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
		// The browser also logs an error for every response with an error status. Tests check these statuses themselves.
		if (message.type() === 'error' && !message.text().includes('the server responded')) faults.push(message.text());
	});
	page.on('request', (request) => {
		const { protocol, origin } = new URL(request.url());
		if (origin !== url && protocol !== 'data:' && protocol !== 'blob:') faults.push(`asked ${request.url()}`);
	});
	await page.goto(`${url}/console/default/${environment}/check`);
	await page.getByLabel('API key').fill(key);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.getByRole('button', { name: 'Sign out' }).waitFor();
	return {
		page,
		context,
		faults,
		open: async (screen) => {
			await page.goto(`${url}/console/default/${environment}/${screen}`);
			await page.locator('main h1').waitFor();
		},
		close: () => context.close(),
	};
}

/** Returns a page's serious and critical axe violations, each on its own line. */
export async function seriousViolations(page: Page): Promise<unknown> {
	await page.evaluate(axe);
	// The rule for small targets is off by default.
	const options = `{ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }`;
	return page.evaluate(`axe.run(document, ${options}).then(({ violations }) => violations
		.filter(({ impact }) => ['serious', 'critical'].includes(impact))
		.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`);
}

/**
 * Returns the width by which a page exceeds its window, in pixels. If it is positive, the whole page scrolls sideways.
 */
export async function overflowWidth(page: Page): Promise<unknown> {
	return page.evaluate('Math.max(0, document.documentElement.scrollWidth - window.innerWidth)');
}

/** Maximum number of tab stops between two elements. */
const mostStops = 120;

/** Returns the focused element's accessible name. */
export async function focusedName(page: Page): Promise<string> {
	return String(
		await page.evaluate(`(() => {
			const one = document.activeElement;
			return one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent;
		})()`),
	).trim();
}

/** Presses Tab until the element with this name has the focus. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
	for (let stop = 0; stop < mostStops; stop += 1) {
		await page.keyboard.press('Tab');
		const focused = await focusedName(page);
		if (typeof name === 'string' ? focused === name : name.test(focused)) return;
	}
	throw new Error(`Tab does not lead to ${name}`);
}

/** Takes a screenshot for docs/policy/console.md, with `UPDATE=1`. */
export async function takePicture(page: Page, name: string): Promise<void> {
	if (process.env['UPDATE'] !== '1') return;
	mkdirSync(join(root, 'docs/images'), { recursive: true });
	await page.screenshot({ path: join(root, `docs/images/console-${name}.png`) });
}
