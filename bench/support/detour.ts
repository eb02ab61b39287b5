import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A fixed address for a database whose address changes. Forwards connections to the current address, like a virtual IP.
 */
export class Detour {
	readonly #server: Server;
	readonly #sockets = new Set<Socket>();
	#target: URL | undefined;

	private constructor(target: URL) {
		this.#target = target;
		this.#server = createServer((socket) => this.#join(socket));
	}

	/** Opens an address for the database in a connection URL. */
	static async open(url: string): Promise<Detour> {
		const detour = new Detour(new URL(url));
		detour.#server.listen(0, '127.0.0.1');
		await once(detour.#server, 'listening');
		return detour;
	}

	/** Connection URL for the address. */
	get url(): string {
		const url = new URL(this.#target?.href ?? '');
		url.port = String((this.#server.address() as AddressInfo).port);
		return url.href;
	}

	/** Closes every connection and rejects new connections. */
	cut(): void {
		this.#target = undefined;
		for (const socket of this.#sockets) socket.destroy();
	}

	/** Forwards new connections to a different database. */
	lead(url: string): void {
		this.#target = new URL(url);
	}

	async close(): Promise<void> {
		this.cut();
		this.#server.close();
		await once(this.#server, 'close');
	}

	#join(socket: Socket): void {
		if (this.#target === undefined) return void socket.destroy();
		const target = connect(Number(this.#target.port), '127.0.0.1');
		for (const [from, to] of [
			[socket, target],
			[target, socket],
		] as const) {
			this.#sockets.add(from);
			from.on('error', () => to.destroy());
			from.on('close', () => {
				this.#sockets.delete(from);
				to.destroy();
			});
			from.pipe(to);
		}
	}
}
