/** Resolves in the next turn of the event loop, after everybody else had theirs. */
export const nextTurn: () => Promise<void> = chooseNextTurn();

function chooseNextTurn(): () => Promise<void> {
	if ('setImmediate' in globalThis) return () => new Promise((resolve) => setImmediate(resolve));
	// Browsers delay timers that start each other, and messages not.
	if ('MessageChannel' in globalThis) return byMessage;
	return () => new Promise((resolve) => setTimeout(resolve, 0));
}

/** A port as the web has it, which the types of Node.js do not describe. */
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
