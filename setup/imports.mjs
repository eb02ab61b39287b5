import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * Finds imports that the table of rooms (`rooms.json`) forbids. The room of a file is the longest table entry that is a
 * prefix of its path. A file may import from its own room, from the shared files in the table, and from the entries in
 * its room's list: rooms with everything below them, single files, packages, and `node:*` for Node.js modules. An entry
 * that begins with `type ` allows only type imports.
 * @param {string} root the package folder
 * @returns {readonly string[]} a line per forbidden import, in file order
 */
export function findForbiddenImports(root) {
	const { everywhere, rooms } = JSON.parse(readFileSync(join(root, 'rooms.json'), 'utf8'));
	const sources = ['compiler', 'packages/engine/src', 'src'].flatMap((folder) => listSources(root, folder));
	return sources.flatMap((file) => {
		const room = roomOf(file, Object.keys(rooms));
		if (room === undefined) return [`${file}: rooms.json has no room for this file`];
		const allowed = [...everywhere, ...rooms[room].imports];
		return importsOf(file, readFileSync(join(root, file), 'utf8'))
			.filter(({ target }) => roomOf(target, Object.keys(rooms)) !== room)
			.filter(({ target, isType }) => !allowed.some((entry) => permits(entry, target, isType)))
			.map(({ line, target }) => `${file}:${line}: ${room} may not import ${target} (rooms.json)`);
	});
}

function listSources(root, folder) {
	return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
		.filter((file) => /\.tsx?$/.test(file))
		.map((file) => posix.join(folder, file))
		.sort();
}

/** Returns a file's room: the longest matching entry. */
function roomOf(file, rooms) {
	return rooms.filter((room) => isBelow(file, room)).sort((a, b) => b.length - a.length)[0];
}

const statement = /^(?:import|export)\s(?<words>[^'";]*?from\s)?'(?<from>[^']+)'|\bimport\('(?<called>[^']+)'\)/gms;

function importsOf(file, text) {
	return [...text.matchAll(statement)].map(({ index, groups: { words, from, called } }) => {
		const specifier = from ?? called;
		const isFile = specifier.startsWith('.');
		return {
			line: text.slice(0, index).split('\n').length,
			target: isFile ? posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts') : specifier,
			isType: /^type\s/.test(words ?? '') || (called !== undefined && text.startsWith('typeof ', index - 7)),
		};
	});
}

function permits(entry, target, isType) {
	if (entry.startsWith('type ')) return isType && permits(entry.slice('type '.length), target, isType);
	return entry === 'node:*' ? target.startsWith('node:') : isBelow(target, entry);
}

function isBelow(path, folder) {
	return path === folder || path.startsWith(`${folder}/`);
}
