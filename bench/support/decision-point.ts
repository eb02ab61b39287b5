import { openSync, readSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createApplication, listen } from '../../src/http/server.js';
import { createLogger } from '../../src/log.js';
import { createDecisionPoint } from '../../src/pdp/endpoints.js';
import { Replica } from '../../src/pdp/follow/replica.js';

/** Decision point in a separate process, which reports how long its event loop was blocked. */

/** IPC message to follow a feed, restart the measurement, or read it. */
export type Question = { readonly follow: string; readonly apiKey: string } | 'reset' | 'read';

/**
 * IPC reply: either the listening address; or the longest time that the event loop was blocked, in milliseconds of wall
 * clock and of CPU time, with the resident memory in MiB.
 */
export type Told =
	| { readonly url: string }
	| { readonly longest: number; readonly busiest: number; readonly resident: number };

const delays = monitorEventLoopDelay({ resolution: 1 });

/**
 * In this file, Linux reports the CPU time of the main thread. On a shared machine, the wall clock includes time used
 * by other processes.
 */
const statistics = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const text = Buffer.alloc(100);

/** CPU time of the main thread in milliseconds. */
function worked(): number {
	return Number(text.toString('latin1', 0, readSync(statistics, text, 0, text.length, 0)).split(' ')[0]) / 1e6;
}

let busiest = 0;
let before = worked();

/** Measures at the end of every loop turn. */
function look(): void {
	const now = worked();
	busiest = Math.max(busiest, now - before);
	before = now;
	setImmediate(look);
}

const tell = (told: Told) => process.send?.(told);

process.on('message', async (question: Question) => {
	if (question === 'reset') {
		delays.reset();
		busiest = 0;
	} else if (question === 'read') {
		tell({ longest: delays.max / 1e6, busiest, resident: process.memoryUsage.rss() / 1024 ** 2 });
	} else {
		const log = createLogger('silent');
		const replica = new Replica({ controlPlane: question.follow, apiKey: question.apiKey, log });
		const point = createDecisionPoint({ replica, apiKey: question.apiKey, log });
		const application = createApplication({ ...point, onUnexpected: (error) => console.error(error) });
		const { url } = await listen(application, '127.0.0.1', 0);
		delays.enable();
		look();
		replica.start();
		tell({ url });
	}
});
