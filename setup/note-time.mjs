import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

// AVA loads this in each process of tests, before the tests. What is noted at its end is summed up by `sumRooms`:
// processor seconds too, its own and its children's, since those are the same whatever else the machine does.
const notes = process.env.TEST_TIMES;
const file = relative(process.cwd(), fileURLToPath(test.meta.file));
if (notes) {
	process.on('exit', () => {
		const { user, system } = process.cpuUsage();
		const processor = (user + system) / 1e6 + childrenSeconds();
		appendFileSync(notes, `${JSON.stringify({ file, seconds: process.uptime(), processor })}\n`);
	});
}

/** Processor time of the children that ended, in seconds; 0 on systems that do not tell as Linux does. */
function childrenSeconds() {
	const status = '/proc/self/stat';
	if (!existsSync(status)) return 0;
	// The name, in parentheses, may hold spaces. After it `cutime` and `cstime` are fields 14 and 15, in hundredths.
	const fields = readFileSync(status, 'utf8').split(') ').at(-1).split(' ');
	return (Number(fields[13]) + Number(fields[14])) / 100;
}
