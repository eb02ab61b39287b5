/** A failed setup step. The message contains instructions for the user. */
export class SetupError extends Error {
	name = 'SetupError';
}

const terminal = process.stderr.isTTY === true;

/** Texts that describe the running steps, in start order. */
const running = new Set();
let ticking;

/**
 * Runs a step and shows it as a line on standard error, with its title, result and duration in seconds. Standard output
 * is reserved for the command itself.
 * @template T
 * @param {string} title
 * @param {(say: (detail: string) => void) => Promise<T>} work calls `say` to announce slow work or to name its result
 * @returns {Promise<T>}
 */
export async function step(title, work) {
	const started = performance.now();
	let detail = '';
	const line = (mark) => `${mark} ${title.padEnd(14)}${detail.padEnd(50)} ${seconds(started)}`;
	const shown = () => `… ${title}${detail && `: ${detail}`}, ${seconds(started)}`;
	const say = (text) => {
		detail = text;
		if (terminal) redraw();
	};
	running.add(shown);
	if (terminal) ticking ??= setInterval(redraw, 500);
	// Output without a terminal cannot be redrawn. Instead, a slow step is announced once, so it is visible in logs.
	const announcing = terminal ? undefined : setTimeout(() => console.error(line('…')), 1000);
	let mark = '✗';
	try {
		const result = await work(say);
		mark = '✓';
		return result;
	} finally {
		running.delete(shown);
		clearTimeout(announcing);
		process.stderr.write(`${terminal ? clearing : ''}${line(mark)}\n`);
		if (terminal) redraw();
	}
}

const clearing = '\r\x1b[2K';

/** Redraws the single line that shows all running steps. */
function redraw() {
	const text = [...running].map((shown) => shown()).join('   ');
	process.stderr.write(`${clearing}${text.slice(0, (process.stderr.columns ?? 80) - 1)}`);
	if (running.size > 0) return;
	clearInterval(ticking);
	ticking = undefined;
}

/** Formats the seconds since `started`, a `performance.now()` value. */
export function seconds(started) {
	return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}
