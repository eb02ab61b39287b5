import { startChromium } from '../test/support/chromium.js';
import { client } from '../test/support/client.js';
import { openConsole } from '../test/support/console-page.js';
import { consoleScreens } from '../test/support/console-screens.js';
import { startStack } from '../test/support/stack.js';
import { accepted } from './support/api.js';
import { consoleEnvironment } from './support/console-environment.js';

/**
 * Measures the time until each console screen shows its first content, in Chromium, in an environment with 100,000
 * users, 200,000 instances, 300 resource types, 50 roles and 1,000 condition sets. The API and the decision point run
 * in this process. Target: 1 s. Then measures the longest freeze while a user scrolls the matrix and types. `SCALE`
 * multiplies the size of the environment. `ROUNDS` sets the number of runs per screen.
 */

const scale = Number(process.env['SCALE'] ?? 1);
const rounds = Number(process.env['ROUNDS'] ?? 7);

/** Additional screens with content. */
const screens: Readonly<Record<string, string>> = {
	...consoleScreens,
	'check?user=user-7@example.com&action=read&resource=document&tenant=tenant-7': 'main .check-verdict',
	'graph?from=user:user-7@example.com': 'main svg, main table',
	'directory/users/user-7@example.com': 'main table',
};

const stack = await startStack('server', { PDP_DECISION_LOG: 'api' });
const { url } = stack.api.listening;
const http = client(url, stack.keys.environment);
const began = performance.now();
const raw = JSON.stringify(consoleEnvironment(scale));
accepted(await http.post('/v2/projects/default/envs/dev/import?conflict_strategy=overwrite', undefined, { raw }));
const imported = performance.now() - began;
await stack.reached(2);
console.log(
	`${(raw.length / 2 ** 20).toFixed(0)} MiB imported in ${seconds(imported)} s, used in decisions after ${seconds(performance.now() - began)} s`,
);

/**
 * Returns an expression for a promise that is fulfilled when an element is shown, and rejected after a minute. Polls in
 * each frame: Playwright's `waitForSelector` slows down to two polls per second, and the console's content security
 * policy blocks `waitForFunction`.
 */
function untilShown(selector: string): string {
	const name = JSON.stringify(selector);
	return `new Promise((resolve, reject) => {
		const end = performance.now() + 60_000;
		const look = () => {
			if ([...document.querySelectorAll(${name})].some((one) => one.getClientRects().length > 0)) resolve();
			else if (performance.now() > end) reject(new Error(${JSON.stringify(`${selector} does not appear`)}));
			else requestAnimationFrame(look);
		};
		look();
	})`;
}

const browser = await startChromium();
const { page, faults, open, close } = await openConsole(browser, stack);
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
for (const [screen, content] of Object.entries(screens)) {
	const took: number[] = [];
	for (let round = 0; round < rounds; round += 1) {
		const started = performance.now();
		await page.goto(`${url}/console/default/dev/${screen}`, { waitUntil: 'commit' });
		await page.evaluate(untilShown(content));
		took.push(performance.now() - started);
	}
	const all = took.map((one) => seconds(one)).join(' ');
	console.log(`${screen.padEnd(76)} ${seconds(median(took))} s (${all})`);
}

await page.addInitScript(`
	window.gaps = [];
	let last = performance.now();
	const note = (now) => { gaps.push(now - last); last = now; requestAnimationFrame(note); };
	requestAnimationFrame(note);
`);

/** Runs an action, and prints the longest times between two frames. */
async function printGaps(name: string, act: () => Promise<void>): Promise<void> {
	await page.evaluate('gaps.length = 0');
	await act();
	const gaps = (await page.evaluate('gaps')) as readonly number[];
	const longest = gaps.toSorted((a, b) => b - a).slice(0, 5);
	console.log(`${name.padEnd(76)} ${longest.map((gap) => `${gap.toFixed(0)} ms`).join(' ')}`);
}

await open('matrix');
await page.locator('main [role=grid]').hover();
await page.waitForLoadState('networkidle');
const turns: Readonly<Record<string, readonly [x: number, y: number]>> = {
	'scroll the matrix down: longest gaps between frames': [0, 900],
	'scroll the matrix to the right': [1200, 0],
	'scroll the matrix back': [-1200, -900],
};
for (const [name, [x, y]] of Object.entries(turns)) {
	await printGaps(name, async () => {
		for (let turn = 0; turn < 60; turn += 1) {
			await page.mouse.wheel(x, y);
			await page.waitForTimeout(30);
		}
	});
}
const searches: Readonly<Record<string, string>> = {
	matrix: 'Resource or action',
	'condition-sets': 'Search by key or name',
	policy: 'Find file',
	directory: 'Search',
	check: 'User',
};
for (const [screen, label] of Object.entries(searches)) {
	await open(screen);
	await page.waitForLoadState('networkidle');
	await page.getByLabel(label).first().click();
	await printGaps(`type in ${screen}`, async () => {
		await page.keyboard.type('document-1 of user', { delay: 60 });
		await page.waitForTimeout(800);
	});
}
for (const fault of faults) console.log(`fault: ${fault}`);
await close();
await browser.close();
await stack.stop();

function seconds(milliseconds: number): string {
	return (milliseconds / 1000).toFixed(2);
}
