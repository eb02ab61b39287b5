import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../support/random.js';
import type { Cleanup } from '../support/temporary.js';

/** Faults of a bundle in transit. */
export type Fault = 'cut' | 'shortened' | 'changed' | 'delayed' | 'replayed' | 'forged';

/** A control plane response. */
interface Relayed {
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Buffer;
}

/** Options for a faulty line. */
export interface FaultyLineOptions {
	readonly random: Random;
	readonly faults: readonly Fault[];
	/** Forges a bundle, as an attacker would. */
	readonly forge: (bundle: Buffer) => Promise<Uint8Array>;
}

/**
 * Starts a proxy in front of a control plane. Two thirds of the bundles get a fault. Returns the proxy's URL.
 */
export async function openFaultyLine(t: Cleanup, origin: string, options: FaultyLineOptions): Promise<string> {
	const { random, faults, forge } = options;
	const sent: Relayed[] = [];
	const server = createServer(async (request, response) => {
		const relayed = await relay(`${origin}${request.url}`, request.headers);
		if (relayed === null) return response.destroy();
		if (relayed.status !== 200 || !request.url?.startsWith('/bundles/')) return send(response, relayed);
		sent.push(relayed);
		const fault = random.chance(2 / 3) ? random.pick(faults) : undefined;
		const { headers, body } = relayed;
		const at = random.below(body.length);
		switch (fault) {
			case 'cut':
				response.writeHead(200, { ...headers, 'content-length': body.length });
				return response.write(body.subarray(0, at), () => response.destroy());
			case 'shortened':
				return send(response, { ...relayed, body: body.subarray(0, at) });
			case 'changed':
				return send(response, { ...relayed, body: Buffer.from(body).fill((body[at] ?? 0) ^ 0x10, at, at + 1) });
			case 'delayed':
				await sleep(50);
				return send(response, relayed);
			case 'replayed':
				return send(response, random.pick(sent));
			case 'forged':
				return send(response, { ...relayed, body: Buffer.from(await forge(body)) });
			default:
				return send(response, relayed);
		}
	});
	await new Promise<void>((resolve) => {
		server.listen(0, '127.0.0.1', () => resolve());
	});
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function relay(url: string, headers: NodeJS.Dict<string | string[]>): Promise<Relayed | null> {
	const passed = ['authorization', 'prefer', 'if-none-match'].flatMap((name) => {
		const value = headers[name];
		return typeof value === 'string' ? [[name, value] as const] : [];
	});
	try {
		const answer = await fetch(url, { headers: Object.fromEntries(passed) });
		const told = ['content-type', 'etag', 'x-revision'].flatMap((name) => {
			const value = answer.headers.get(name);
			return value === null ? [] : [[name, value] as const];
		});
		const body = Buffer.from(await answer.arrayBuffer());
		return { status: answer.status, headers: Object.fromEntries(told), body };
	} catch {
		return null;
	}
}

function send(response: ServerResponse, { status, headers, body }: Relayed): void {
	response.writeHead(status, headers).end(body);
}
