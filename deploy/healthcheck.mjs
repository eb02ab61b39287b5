/*
 * Container health check: exits with code 0 or 1. Requests `/ready` on each port with a listener. A port without a
 * listener belongs to a server that does not run in this container.
 */
const { API_PORT = '8000', PDP_PORT = '7766' } = process.env;
const patience = 4_000;

async function state(port) {
	try {
		const { status } = await fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(patience) });
		return status === 200 ? 'ready' : `returned ${status}`;
	} catch (error) {
		return error.cause?.code === 'ECONNREFUSED' ? undefined : 'did not respond';
	}
}

const states = (await Promise.all([API_PORT, PDP_PORT].map(state))).filter((found) => found !== undefined);
console.log(states.length === 0 ? 'no server is listening' : states.join(', '));
process.exitCode = states.length > 0 && states.every((found) => found === 'ready') ? 0 : 1;
