import { Agent, type RequestOptions, request } from 'node:http';

/**
 * Runs writers over kept-alive connections in a separate process, so they share no thread with the measured
 * process.
 */

/** Work for a group of writers. */
export interface Load {
	readonly url: string;
	/** Writer `n` writes to place `n` modulo the number of places. */
	readonly places: readonly Target[];
	readonly kind: Kind;
	readonly writers: number;
	readonly seconds: number;
	/** Distinguishes keys created by this load from keys created by other loads. */
	readonly name: string;
}

/** Environment to write to. */
export interface Target {
	readonly facts: string;
	readonly secret: string;
}

/**
 * Kinds of writes. `assignments` alternately assigns and unassigns roles. `users` creates and changes users. `mixed`
 * does both, and also deletes users.
 */
export type Kind = 'assignments' | 'users' | 'mixed';

/** Results of a load. */
export interface Outcome {
	/** Acknowledged writes per second. */
	readonly rate: number;
	/** Time in milliseconds from request to response. */
	readonly p50: number;
	readonly p99: number;
	/** Distinct failure responses. */
	readonly refused: readonly string[];
}

interface Step {
	readonly method: string;
	readonly path: string;
	readonly body?: unknown;
}

const assignment = (user: string) => ({ user, role: 'viewer', tenant: 'default' });
const createUser = (key: string): Step => ({
	method: 'POST',
	path: '/users',
	body: { key, email: key, first_name: 'A', last_name: 'B', attributes: { department: 'sales', age: 42 } },
});
const changeUser = (key: string): Step => ({ method: 'PATCH', path: `/users/${key}`, body: { first_name: 'C' } });
const deleteUser = (key: string): Step => ({ method: 'DELETE', path: `/users/${key}` });
const assign = (user: string): Step => ({ method: 'POST', path: '/role_assignments', body: assignment(user) });
const unassign = (user: string): Step => ({ method: 'DELETE', path: '/role_assignments', body: assignment(user) });

/** Writes in each turn. `own` is the writer's permanent user, and `fresh` is a new user. */
const turns: Readonly<Record<Kind, (own: string, fresh: string) => readonly Step[]>> = {
	assignments: (own) => [assign(own), unassign(own)],
	users: (_, fresh) => [createUser(fresh), changeUser(fresh)],
	mixed: (_, fresh) => [createUser(fresh), assign(fresh), changeUser(fresh), unassign(fresh), deleteUser(fresh)],
};

process.once('message', async (load: Load) => {
	process.send?.(await run(load));
	process.disconnect();
});

async function run({ url, places, kind, writers, seconds, name }: Load): Promise<Outcome> {
	const agent = new Agent({ keepAlive: true, maxSockets: writers });
	const { hostname, port } = new URL(url);
	const times: number[] = [];
	const refused = new Set<string>();
	const started = performance.now();
	const end = started + seconds * 1000;
	const write = (number: number) => {
		const place = places[number % places.length];
		if (place === undefined) throw new Error('no place to write to');
		const headers = { authorization: `Bearer ${place.secret}`, 'content-type': 'application/json' };
		return async ({ method, path, body }: Step) => {
			const sent = performance.now();
			const sending = { agent, hostname, port, method, path: place.facts + path, headers };
			const [status, text] = await send(sending, body === undefined ? '' : JSON.stringify(body));
			if (status >= 300) refused.add(`${method} ${path.split('/')[1]} ${status} ${text.slice(0, 300)}`);
			times.push(performance.now() - sent);
		};
	};
	const writing = Array.from({ length: writers }, async (_, number) => {
		const step = write(number);
		const own = `own-${name}-${number}@example.com`;
		if (kind === 'assignments') await step(createUser(own));
		for (let turn = 0; performance.now() < end; turn += 1) {
			for (const next of turns[kind](own, `${name}-${number}-${turn}@example.com`)) await step(next);
		}
	});
	await Promise.all(writing);
	const passed = (performance.now() - started) / 1000;
	agent.destroy();
	const sorted = times.toSorted((a, b) => a - b);
	const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
	return { rate: times.length / passed, p50: at(0.5), p99: at(0.99), refused: [...refused] };
}

function send(sending: RequestOptions, body: string): Promise<readonly [status: number, text: string]> {
	return new Promise((resolve, reject) => {
		const sent = request(sending, (answer) => {
			let text = '';
			answer.setEncoding('utf8');
			answer.on('data', (chunk: string) => {
				text += chunk;
			});
			answer.on('end', () => resolve([answer.statusCode ?? 0, text]));
			answer.on('error', reject);
		});
		sent.on('error', reject);
		sent.setHeader('content-length', Buffer.byteLength(body));
		sent.end(body);
	});
}
