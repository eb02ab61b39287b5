import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

// AVA loads this in the process of each file of tests, before the file. What is noted at its end is summed up by
// `sumRooms`: processor seconds too, since those are the same whatever else the machine does.
const notes = process.env.TEST_TIMES;
const file = relative(process.cwd(), fileURLToPath(test.meta.file));
if (notes) {
	process.on('exit', () => {
		const { user, system } = process.cpuUsage();
		appendFileSync(notes, `${JSON.stringify({ file, seconds: process.uptime(), processor: (user + system) / 1e6 })}\n`);
	});
}
