import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { endpoints } from '../src/api/table.js';
import { maxBodyBytes, maxBodyValues } from '../src/http/server.js';
import { decisionEndpoints } from '../src/pdp/endpoint/decision-endpoints.js';
import { listingEndpoints } from '../src/pdp/endpoint/listing-endpoints.js';
import { type Body, bodies } from '../test/support/bodies.js';
import { decisionBodies, type HostileBody, hostileBodies, shapes } from '../test/support/hostile-bodies.js';
import { newPlace } from '../test/support/management.js';
import { startStack } from '../test/support/stack.js';
import { endpointPath, furnish } from '../test/support/tour.js';

/**
 * Measures the CPU time to parse, validate and reject 5 MiB of each shape, at every place in every request body on both
 * servers, with and without a key. Prints the worst endpoint for each shape. The servers, the database client and the
 * sending client run in this process, so the figures are slightly too high. Fails if a rejection takes more than 250
 * ms. This limit does not apply to accepted bodies, which are only printed, or to bodies above 5 MiB: an imported
 * document is read in parts, so only the time per part matters.
 *
 * `REFUSALS=check,createUser` selects endpoints by name.
 */

const maxMilliseconds = 250;
const wanted = (process.env['REFUSALS'] ?? '').split(',').filter(Boolean);

/**
 * Fields that inspect their value. All remaining fields expect a single string or number, and reject every shape in the
 * same way.
 */
const looking =
	/^(object|references|assignments|actions|attributes|roles|relations|members|rules|subject|jwks|scope|secret)/;

interface Visited {
	readonly name: string;
	readonly method: string;
	readonly path: string;
	readonly body: Body;
	readonly url: string;
	readonly key: string;
	readonly streamed: boolean;
}

interface Measured {
	readonly where: string;
	readonly status: number;
	readonly milliseconds: number;
	/** Longest time that blocked all other work, in milliseconds. */
	readonly held: number;
	readonly answerBytes: number;
}

/** Sends a request on a separate connection and reads the complete response. */
async function ask({ method, path, url }: Visited, body: Buffer, key: string | null): Promise<Omit<Measured, 'where'>> {
	const { hostname, port } = new URL(url);
	const authorization = key === null ? [] : [`Authorization: Bearer ${key}`];
	const head = [`${method.toUpperCase()} ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...authorization];
	const delay = monitorEventLoopDelay({ resolution: 1 });
	delay.enable();
	const before = process.cpuUsage();
	const socket = connect(Number(port), hostname);
	socket.on('error', () => {});
	socket.write(`${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n`);
	socket.write(body);
	const parts: Buffer[] = [];
	socket.on('data', (part: Buffer) => parts.push(part));
	await new Promise((resolve) => socket.once('close', resolve));
	const { user, system } = process.cpuUsage(before);
	delay.disable();
	const answer = Buffer.concat(parts).toString();
	const [start = '', text = ''] = answer.split('\r\n\r\n');
	return {
		status: Number(start.split(' ')[1]),
		milliseconds: (user + system) / 1000,
		held: delay.max / 1e6,
		answerBytes: Buffer.byteLength(text),
	};
}

const stack = await startStack('server');
const place = await newPlace({ url: stack.api.listening.url, store: stack.api.store }, stack.project);
await furnish(place);

function visiting(): readonly Visited[] {
	const api = { url: stack.api.listening.url, key: stack.keys.organization };
	const point = { url: stack.decisionPoint.listening.url, key: stack.keys.environment };
	const ofApi = endpoints.map((endpoint) => ({
		...endpoint,
		...api,
		path: endpointPath(endpoint, place),
		body: bodies[endpoint.name],
	}));
	const ofPoint = [...decisionEndpoints('edge'), ...listingEndpoints('edge')].map((endpoint) => ({
		...endpoint,
		...point,
		body: decisionBodies[endpoint.name],
	}));
	return [...ofApi, ...ofPoint].flatMap(({ body, largeBody, ...rest }) =>
		body === undefined ? [] : [{ ...rest, body, streamed: largeBody !== undefined }],
	);
}

function narrowed(body: Body): Body {
	return { ...body, fields: Object.fromEntries(Object.entries(body.fields).filter(([, kind]) => looking.test(kind))) };
}

/**
 * Returns the largest JSON text for a shape within the value limit. A body above this limit is rejected before
 * validation.
 */
function fitting(make: (bytes: number) => string): string {
	for (let bytes = maxBodyBytes - 1024; ; bytes = Math.floor(bytes * 0.95)) {
		const text = make(bytes);
		// No shape has these characters inside a string.
		if ((text.match(/[[{,]/g) ?? []).length < maxBodyValues - 50) return text;
	}
}

const values = new Map<string, string>();
for (const [shape, make] of Object.entries(shapes)) {
	const [most, fits] = [make(maxBodyBytes - 1024), fitting(make)];
	values.set(shape, most);
	if (fits.length < most.length) values.set(`${shape}, as many as allowed`, fits);
}
const measured = new Map<string, Measured[]>();

function note(shape: string, one: Measured): void {
	measured.set(shape, [...(measured.get(shape) ?? []), one]);
}

async function attack(visited: Visited, { shape, what, text }: HostileBody): Promise<void> {
	const kind = visited.streamed ? `${shape}, streamed` : shape;
	note(kind, { where: `${visited.name}: ${what}`, ...(await ask(visited, Buffer.from(text), visited.key)) });
}

for (const visited of visiting().filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
	for (const hostile of hostileBodies(narrowed(visited.body), values)) await attack(visited, hostile);
	const nobody = Buffer.from(values.get('empty objects') ?? '');
	note('from nobody', { where: visited.name, ...(await ask(visited, nobody, null)) });
}

let failed = false;
const ascending = (left: Measured, right: Measured) => left.milliseconds - right.milliseconds;
console.log('CPU time for 5 MiB in ms, by shape: median, worst, longest block, and the worst endpoint');
for (const [shape, all] of measured) {
	const refused = all.filter(({ status }) => status >= 400).sort(ascending);
	const taken = all
		.filter(({ status }) => status < 400)
		.sort(ascending)
		.at(-1);
	const [median, worst] = [refused[Math.floor(refused.length / 2)], refused.at(-1)];
	const hold = Math.max(...refused.map(({ held }) => held));
	const figures = [median?.milliseconds ?? 0, worst?.milliseconds ?? 0, hold].map((one) => one.toFixed(0).padStart(5));
	const accepted = taken === undefined ? '' : `; accepted at most ${taken.milliseconds.toFixed(0)} (${taken.where})`;
	console.log(`${shape.padEnd(62)} ${figures.join(' ')} (${worst?.status}, ${worst?.where})${accepted}`);
	const wrong = all.filter(
		({ status, answerBytes }) => !status || status >= 500 || (status >= 400 && answerBytes > 64 * 1024),
	);
	for (const { where, status, answerBytes } of wrong) console.log(`  WRONG: ${where}: ${status}, ${answerBytes} bytes`);
	const slow = !shape.endsWith('streamed') && (worst?.milliseconds ?? 0) > maxMilliseconds;
	failed ||= wrong.length > 0 || slow;
}
await stack.stop();
if (failed) {
	console.log(`over ${maxMilliseconds} ms, or not rejected as expected`);
	process.exitCode = 1;
}
