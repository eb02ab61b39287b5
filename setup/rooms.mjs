import { existsSync, readFileSync } from 'node:fs';

/**
 * Sums up the process times recorded by `note-time.mjs` for each room (folder in test/) or room group.
 * @param {string} notes a file with JSON lines; may be missing
 * @returns {string} a table that begins with the longest room; empty if there are no notes
 */
export function sumRooms(notes) {
	const lines = existsSync(notes) ? readFileSync(notes, 'utf8').split('\n').filter(Boolean) : [];
	const rooms = new Map();
	for (const { file, seconds, processor } of lines.map((line) => JSON.parse(line))) {
		const name = /^dist\/test\/(?:(.*?)\/)?[^/]*$/.exec(file)?.[1] ?? 'test';
		const room = rooms.get(name) ?? { name, processes: 0, seconds: 0, processor: 0 };
		rooms.set(name, room);
		room.processes += 1;
		room.seconds += seconds;
		room.processor += processor;
	}
	const rows = [...rooms.values()]
		.sort((a, b) => b.seconds - a.seconds)
		.map(({ name, processes, seconds, processor }) => [
			name,
			String(processes),
			seconds.toFixed(1),
			processor.toFixed(1),
		]);
	if (rows.length === 0) return '';
	return [['room', 'processes', 'seconds', 'of processor'], ...rows]
		.map(([name, ...numbers]) => `  ${name.padEnd(14)}${numbers.map((number) => number.padStart(14)).join('')}`)
		.join('\n');
}
