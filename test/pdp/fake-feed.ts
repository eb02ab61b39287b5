import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { catalogue } from '../../src/failure.js';
import { environment } from './environment.js';

/** A fake control plane with only a feed, over real HTTP. Tests set the feed's responses. */

/** API body for a missing object. */
const notFound = { title: catalogue.not_found.title };

const contentType = 'application/vnd.openpolicyagent.bundles';

/** Feed content since a publication. */
export interface Published {
	readonly revision: number;
	/** Lineage in the bundles, if any. */
	readonly lineage?: string;
	readonly snapshot: Uint8Array;
	/** Step for clients at the previous publication. */
	readonly step?: Uint8Array;
	/** Older snapshot for new clients, and the step from this snapshot to the published revision. */
	readonly older?: { readonly revision: number; readonly snapshot: Uint8Array; readonly step: Uint8Array };
}

/** A bundle request as received by the feed. */
export interface Seen {
	readonly etag: string | undefined;
	readonly prefer: string | undefined;
	readonly authorization: string | undefined;
}

export class FakeFeed {
	/** The key's environment; `null` simulates a project key. */
	environment: string | null = environment;
	readonly seen: Seen[] = [];
	#status: number | undefined;
	#refusal = '{}';
	#published: Published | undefined;
	#previous: string | undefined;
	#server: Server | undefined;
	#port = 0;
	#wake = deferred();

	get url(): string {
		return `http://127.0.0.1:${this.#port}`;
	}

	/** Starts listening, on the same port after a restart. */
	async start(): Promise<void> {
		this.#server = createServer((request, response) => void this.#serve(request, response));
		this.#server.listen(this.#port, '127.0.0.1');
		await once(this.#server, 'listening');
		this.#port = (this.#server.address() as AddressInfo).port;
	}

	/** Closes every connection and stops listening. */
	async stop(): Promise<void> {
		const closed = this.#server && once(this.#server, 'close');
		this.#server?.close();
		this.#server?.closeAllConnections();
		await closed;
	}

	/** Publishes new content and wakes waiting requests. */
	publish(published: Published): void {
		this.#previous = this.#published && etag(this.#published);
		this.#published = published;
		this.#wakeAll();
	}

	/** Responds to every request with this status. `undefined` restores the normal responses. */
	refuse(status: number | undefined, body: unknown = notFound): void {
		this.#status = status;
		this.#refusal = JSON.stringify(body);
		this.#wakeAll();
	}

	/** From now on, responds like an API whose environment was deleted. */
	deleteEnvironment(): void {
		this.refuse(410, { title: catalogue.environment_deleted.title, message: 'the environment was deleted' });
	}

	#wakeAll(): void {
		const waiting = this.#wake;
		this.#wake = deferred();
		waiting.resolve();
	}

	async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		if (request.url === '/v2/api-key/scope') return this.#scope(response);
		const { authorization, prefer, 'if-none-match': held } = request.headers;
		const preferred = typeof prefer === 'string' ? prefer : undefined;
		this.seen.push({ etag: held, prefer: preferred, authorization });
		const wait = Number(/wait=(\d+)/.exec(preferred ?? '')?.[1] ?? 0);
		while (wait > 0 && this.#status === undefined && this.#published && held === etag(this.#published)) {
			await this.#wake.promise;
		}
		this.#answer(request, response, held);
	}

	#scope(response: ServerResponse): void {
		if (this.#status !== undefined) return void response.writeHead(this.#status).end(this.#refusal);
		const scope = { organization_id: 'o', project_id: 'p', environment_id: this.environment };
		response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(scope));
	}

	#answer(request: IncomingMessage, response: ServerResponse, held: string | undefined): void {
		const published = this.#published;
		if (this.#status !== undefined) return void response.writeHead(this.#status).end(this.#refusal);
		if (request.url !== `/bundles/${this.environment}`) {
			return void response.writeHead(404).end(JSON.stringify(notFound));
		}
		if (published === undefined) return void response.writeHead(503).end('{}');
		if (held === etag(published)) return void response.writeHead(304, { 'content-type': contentType }).end();
		const { older, step, snapshot } = published;
		const send = (to: Pick<Published, 'revision' | 'lineage'>, bytes: Uint8Array) => {
			response.writeHead(200, { 'content-type': contentType, etag: etag(to), 'x-revision': to.revision });
			response.end(bytes);
		};
		if (older !== undefined && held === undefined) send(older, older.snapshot);
		else if (older !== undefined && held === etag(older)) send(published, older.step);
		else if (step !== undefined && held !== undefined && held === this.#previous) send(published, step);
		else send(published, snapshot);
	}
}

function etag({ revision, lineage = '' }: Pick<Published, 'revision' | 'lineage'>): string {
	return `"${lineage}r${revision}-x"`;
}

interface Deferred {
	readonly promise: Promise<void>;
	readonly resolve: () => void;
}

function deferred(): Deferred {
	let resolve: () => void = () => undefined;
	const promise = new Promise<void>((done) => {
		resolve = done;
	});
	return { promise, resolve };
}
