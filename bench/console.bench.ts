import { startChromium } from '../test/support/chromium.js';
import { client } from '../test/support/client.js';
import { openConsole } from '../test/support/console-page.js';
import { startStack } from '../test/support/stack.js';
import { accepted } from './support/api.js';
import { consoleEnvironment } from './support/console-environment.js';

/**
 * How long each screen of the console takes to show its first content, in Chromium, on an environment of 100,000 users,
 * 200,000 instances, 300 resource types, 50 roles and 1,000 condition sets; API and decision point are in this process.
 * `SCALE` multiplies all of it, `ROUNDS` is how often each screen is opened. The target is a second.
 */

const scale = Number(process.env['SCALE'] ?? 1);
const rounds = Number(process.env['ROUNDS'] ?? 5);

/** What is waited for on each screen: the first of its content, and no longer that it loads. */
const screens: Readonly<Record<string, string>> = {
	check: 'main form',
	'check?user=user-7@example.com&action=read&resource=document&tenant=tenant-7':
		'main [role=status], main .check-answer',
	decisions: 'main table, main .empty',
	'graph?from=user:user-7@example.com': 'main svg, main table',
	matrix: 'main [role=grid]',
	'condition-sets': 'main table',
	policy: 'main .code-view',
	draft: 'main .empty, main form',
	directory: 'main table',
	'directory/users/user-7@example.com': 'main table',
	requests: 'main .empty, main .requests-list li',
	changes: 'main .changes-revisions',
	'decision-points': 'main table',
	keys: 'main table',
	environments: 'main form, main .environments-drop',
	elements: 'main .empty, main table',
};

const stack = await startStack('server', { PDP_DECISION_LOG: 'api' });
const { url } = stack.api.listening;
const http = client(url, stack.keys.environment);
const began = performance.now();
const raw = JSON.stringify(consoleEnvironment(scale));
accepted(await http.post('/v2/projects/default/envs/dev/import?conflict_strategy=overwrite', undefined, { raw }));
await stack.reached(2);
console.log(`imported ${(raw.length / 2 ** 20).toFixed(0)} MiB, decided by in ${seconds(performance.now() - began)} s`);

const browser = await startChromium();
const { page, faults, close } = await openConsole(browser, stack);
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
for (const [screen, content] of Object.entries(screens)) {
	const took: number[] = [];
	for (let round = 0; round < rounds; round += 1) {
		const started = performance.now();
		await page.goto(`${url}/console/default/dev/${screen}`, { waitUntil: 'commit' });
		await page.locator(content).first().waitFor();
		took.push(performance.now() - started);
	}
	const all = took.map((one) => seconds(one)).join(' ');
	console.log(`${screen.padEnd(70)} ${seconds(median(took))} s (${all})`);
}
for (const fault of faults) console.log(`fault: ${fault}`);
await close();
await browser.close();
await stack.stop();

function seconds(milliseconds: number): string {
	return (milliseconds / 1000).toFixed(2);
}
