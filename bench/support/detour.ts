import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** One address for a database that moves: connections are led to where it is, as by a virtual IP. */
export class Detour {
	readonly #server: Server;
	readonly #sockets = new Set<Socket>();
	#target: URL | undefined;

	private constructor(target: URL) {
		this.#target = target;
		this.#server = createServer((socket) => this.#join(socket));
	}

	/** Opens an address that leads to the database of a connection URL. */
	static async open(url: string): Promise<Detour> {
		const detour = new Detour(new URL(url));
		detour.#server.listen(0, '127.0.0.1');
		await once(detour.#server, 'listening');
		return detour;
	}

	/** The connection URL of the address. */
	get url(): string {
		const url = new URL(this.#target?.href ?? '');
		url.port = String((this.#server.address() as AddressInfo).port);
		return url.href;
	}

	/** Cuts every connection, and leads nowhere. */
	cut(): void {
		this.#target = undefined;
		for (const socket of this.#sockets) socket.destroy();
	}

	/** Leads new connections to another database. */
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
