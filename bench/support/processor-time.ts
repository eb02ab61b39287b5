import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of processes in seconds, as reported by Linux. */

/** Returns the CPU time of processes and all their descendants; `NaN` if the system does not report it. */
export function processorTime(...pids: readonly number[]): number {
	try {
		const all = readdirSync('/proc')
			.filter((name) => /^\d+$/.test(name))
			.flatMap((name) => readProcess(Number(name)));
		const found = new Set(pids);
		for (let size = 0; size < found.size; ) {
			size = found.size;
			for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
		}
		return all.reduce((total, { pid, seconds }) => (found.has(pid) ? total + seconds : total), 0);
	} catch {
		return Number.NaN;
	}
}

/** Reads a process; nothing if it has ended. */
function readProcess(pid: number) {
	try {
		const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=[^)]*$)/);
		const fields = rest.split(' ');
		const [parent = 0, user = 0, system = 0] = [1, 11, 12].map((index) => Number(fields[index]));
		return [{ pid, parent, seconds: (user + system) / 100 }];
	} catch {
		return [];
	}
}
