import { randomBytes } from 'node:crypto';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, client } from '../test/support/client.js';
import { eventually } from '../test/support/eventually.js';
import { freePort } from '../test/support/ports.js';
import { Service } from '../test/support/service.js';
import { facts, schema, secretFor, settings } from '../test/support/stack.js';

/**
 * Fills the disk of a running embedded database, and prints the effects. Run it manually, because it needs a small
 * disk:
 *
 *     mount -t tmpfs -o size=400m tmpfs /mnt/small
 *     node dist/bench/disk-full.js /mnt/small        # with the reserve: only writes fail
 *     node dist/bench/disk-full.js /mnt/small 0      # without: PostgreSQL fails, and is restarted
 */

const [folder, reserve = '64'] = process.argv.slice(2);
if (folder === undefined) throw new Error('name a folder on a disk of 400 MiB that may be filled');

const data = join(folder, 'data');
const filler = join(folder, 'filler');
/** Space to free when the disk is full. */
const ballast = join(folder, 'ballast');
const free = () => {
	const { bavail, bsize } = statfsSync(folder);
	return Math.round((bavail * bsize) / 2 ** 20);
};
const say = (text: string) =>
	console.log(`${(performance.now() / 1000).toFixed(1).padStart(6)} s, ${free()} MiB free: ${text}`);

const [apiPort, pdpPort] = [await freePort(), await freePort()];
const key = secretFor('full-environment');
const api = client(`http://127.0.0.1:${apiPort}`, key);
const pdp = client(`http://127.0.0.1:${pdpPort}`, key);
const service = new Service(`http://127.0.0.1:${pdpPort}`, {
	command: ['start'],
	env: {
		...settings(data, 'full'),
		API_PORT: String(apiPort),
		PDP_PORT: String(pdpPort),
		MIN_FREE_DISK: reserve,
		LOG_LEVEL: 'warn',
	},
});

/** Returns the response status, or the problem if no response arrives within 15 seconds. */
async function responseStatus(asking: Promise<{ readonly status: number }>): Promise<number | string> {
	const late = new Promise<string>((resolve) => setTimeout(resolve, 15_000, 'no response').unref());
	return Promise.race([asking.then(({ status }) => status), late]).catch((error: Error) => error.message);
}

const writeTo = (http: Client, number: number) =>
	http.post(`${facts}/users`, { key: `user-${number}`, attributes: { text: randomBytes(40_000).toString('base64') } });
const check = () => pdp.post('/allowed', { user: 'ann', action: 'read', resource: 'document' });

async function state(): Promise<string> {
	const [write, read, decision] = [
		await responseStatus(api.post(`${facts}/tenants`, { key: `t${Math.round(performance.now())}`, name: 'T' })),
		await responseStatus(api.get(`${facts}/users/ann`)),
		await responseStatus(check()),
	];
	return `a write is ${write}, a read ${read}, a check ${decision}`;
}

/** Fills the disk completely. */
function fillUp(): void {
	try {
		for (let size = 2 ** 24; size >= 1; size /= 16) {
			for (;;) {
				try {
					writeFileSync(filler, Buffer.alloc(size, 1), { flag: 'a' });
				} catch {
					break;
				}
			}
		}
	} finally {
		say('another program has filled the disk');
	}
}

rmSync(data, { recursive: true, force: true });
rmSync(filler, { force: true });
writeFileSync(ballast, Buffer.alloc(80 * 2 ** 20, 1));
say('starting');
await service.start();
await api.post(`${schema}/resources`, { key: 'document', name: 'Document', actions: { read: {} } });
await api.post(`${schema}/roles`, { key: 'viewer', name: 'Viewer', permissions: ['document:read'] });
await api.post(`${facts}/users`, { key: 'ann', role_assignments: [{ role: 'viewer', tenant: 'default' }] });
await eventually(check, ({ status }) => status === 200, { deadline: 60_000 });
say(`started: ${await state()}`);
let written = 0;
for (let status: number | string = 200; status === 200 && written < 20_000; written += 1) {
	status = await responseStatus(writeTo(api, written));
	if (status !== 200) say(`after ${written} writes, one is ${status}: ${await state()}`);
}
fillUp();
for (let round = 0; round < 3; round += 1) say(await state());
rmSync(filler, { force: true });
rmSync(ballast);
say('there is space again');
const back = await eventually(
	() => responseStatus(api.post(`${facts}/users`, { key: `back-${Math.round(performance.now())}` })),
	(status) => status === 200,
	{ deadline: 60_000, interval: 500 },
).catch((error: Error) => error.message);
say(`a write is ${back}: ${await state()}`);
const all = await api.get<{ total_count: number }>(`${facts}/users?include_total_count=true&per_page=1`);
say(`${written} users were written, ${all.body.total_count} are there`);
fillUp();
say(await state());
const stopping = performance.now();
await service.stop().catch((error: Error) => say(error.message));
say(`SIGTERM: ended after ${((performance.now() - stopping) / 1000).toFixed(1)} s`);
rmSync(filler, { force: true });
await service.start().catch(() => say('it does not start: without a reserve, there may be no room for that'));
await eventually(check, ({ status }) => status === 200, { deadline: 20_000 }).catch(() => undefined);
say(`started again: ${await state()}`);
await service.stop();
console.log(
	service
		.output()
		.split('\n')
		.filter((line) => line.startsWith('{'))
		.map((line) => JSON.parse(line).msg)
		.join('\n'),
);
