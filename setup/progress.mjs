/** A set-up step that failed. The message tells a person what to do about it. */
export class SetupError extends Error {
	name = 'SetupError';
}

const terminal = process.stderr.isTTY === true;

/**
 * Runs one step and shows it as one line on standard error: title, result, seconds it took. Standard output stays free
 * for the command itself.
 * @template T
 * @param {string} title
 * @param {(say: (detail: string) => void) => Promise<T>} work calls `say` to announce something slow or to name its
 * result
 * @returns {Promise<T>}
 */
export async function step(title, work) {
	const started = performance.now();
	let detail = '';
	const line = (mark) => `${mark} ${title.padEnd(14)}${detail.padEnd(50)} ${seconds(started)}`;
	const redraw = () => process.stderr.write(`\r\x1b[2K${line('…')}`);
	const ticking = terminal ? setInterval(redraw, 500) : undefined;
	const say = (text) => {
		detail = text;
		if (terminal) redraw();
	};
	// Without a terminal nothing can be redrawn. A slow step announces itself once, so that a log shows where time
	// goes.
	const announcing = terminal ? undefined : setTimeout(() => console.error(line('…')), 1000);
	try {
		const result = await work(say);
		finish(line('✓'));
		return result;
	} catch (error) {
		finish(line('✗'));
		throw error;
	} finally {
		clearInterval(ticking);
		clearTimeout(announcing);
	}
}

function finish(line) {
	process.stderr.write(`${terminal ? '\r\x1b[2K' : ''}${line}\n`);
}

/** Seconds since an instant of `performance.now()`, as shown to people. */
export function seconds(started) {
	return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}
