import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

// AVA loads this module in each test process, before the tests. When the process ends, the module records times for
// `sumRooms`. They include the CPU seconds used by the process and its children, because CPU time does not depend on
// other load on the machine.
const notes = process.env.TEST_TIMES;
const file = relative(process.cwd(), fileURLToPath(test.meta.file));
if (notes) {
	process.on('exit', () => {
		const { user, system } = process.cpuUsage();
		const processor = (user + system) / 1e6 + childrenSeconds();
		appendFileSync(notes, `${JSON.stringify({ file, seconds: process.uptime(), processor })}\n`);
	});
}

/** CPU time of ended children, in seconds; 0 on systems without Linux's /proc. */
function childrenSeconds() {
	const status = '/proc/self/stat';
	if (!existsSync(status)) return 0;
	// The name, in parentheses, may contain spaces. After it, `cutime` and `cstime` are fields 14 and 15, in hundredths.
	const fields = readFileSync(status, 'utf8').split(') ').at(-1).split(' ');
	return (Number(fields[13]) + Number(fields[14])) / 100;
}
