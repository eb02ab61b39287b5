/** Resolves in the next event loop turn, after all other work. */
export const nextTurn: () => Promise<void> = chooseNextTurn();

function chooseNextTurn(): () => Promise<void> {
	if ('setImmediate' in globalThis) return () => new Promise((resolve) => setImmediate(resolve));
	// Browsers throttle nested timers, but they do not throttle messages.
	if ('MessageChannel' in globalThis) return byMessage;
	return () => new Promise((resolve) => setTimeout(resolve, 0));
}

/** Web message port, which is missing in the Node.js types. */
interface Port {
	onmessage: () => void;
	close(): void;
}

function byMessage(): Promise<void> {
	return new Promise((resolve) => {
		const { port1, port2 } = new MessageChannel();
		const port = port1 as unknown as Port;
		port.onmessage = () => {
			port.close();
			resolve();
		};
		port2.postMessage(null);
	});
}
