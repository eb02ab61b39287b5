import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import * as nodeFiles from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { pino } from 'pino';
import { logOptions } from '../../src/log.js';
import { type Files, SnapshotFolder } from '../../src/publish/snapshot-folder.js';
import { temporary } from '../support/temporary.js';

const environment = '01a2018e-35af-7005-8a65-1072b3159e0b';
const other = '01a2018e-35af-7005-8a65-1072b3159e0c';
const label = 'r12-digest.wasm';
const bytes = Buffer.from('a bundle');

/** Returns a snapshot folder and its log. `files` replaces file system functions. */
function openFolder(path: string, files: Partial<Files> = {}) {
	const logged: { readonly msg: string; readonly level: string }[] = [];
	const log = pino(logOptions('warn'), { write: (line: string) => void logged.push(JSON.parse(line)) });
	return { folder: new SnapshotFolder(path, log, { ...nodeFiles, ...files }), logged };
}

const systemError = (code: string) => Object.assign(new Error(`${code}: refused`), { code });

test('stored snapshots can be read by this process and the next', async (t) => {
	const path = temporary(t);
	t.true(await openFolder(path).folder.write(environment, label, bytes));
	const { folder, logged } = openFolder(path);
	t.deepEqual(await folder.labels(environment), [label]);
	t.true(bytes.equals((await folder.read(environment, label)) ?? Buffer.of()));
	t.is(await folder.read(environment, 'r13-digest.wasm'), null);
	t.deepEqual(logged, []);
});

test('bytes and names are synced to disk before they are used', async (t) => {
	const steps: string[] = [];
	const spied: Partial<Files> = {
		open: async (path, flags, mode) => {
			const file = await nodeFiles.open(path, flags, mode);
			const sync = file.sync.bind(file);
			file.sync = async () => {
				steps.push(flags === 'w' ? 'the file is flushed' : 'the folder is flushed');
				await sync();
			};
			return file;
		},
		rename: async (from, to) => {
			steps.push('the file gets its name');
			await nodeFiles.rename(from, to);
		},
	};
	await openFolder(temporary(t), spied).folder.write(environment, label, bytes);
	t.deepEqual(steps, ['the file is flushed', 'the file gets its name', 'the folder is flushed']);
});

const misplacements: Readonly<Record<string, (path: string, name: string) => void>> = {
	'of a different environment': (path, name) => {
		mkdirSync(join(path, other));
		renameSync(join(path, environment, name), join(path, other, name));
	},
	'of a different revision': (path, name) => {
		mkdirSync(join(path, other));
		renameSync(join(path, environment, name), join(path, environment, name.replace('r12', 'r13')));
	},
};

for (const [what, misplace] of Object.entries(misplacements)) {
	test(`a complete snapshot ${what} is not used, and is deleted`, async (t) => {
		const path = temporary(t);
		const { folder, logged } = openFolder(path);
		await folder.write(environment, label, bytes);
		const [name = ''] = readdirSync(join(path, environment));
		misplace(path, name);
		for (const id of [environment, other]) {
			for (const kept of await folder.labels(id)) t.is(await folder.read(id, kept), null);
			t.deepEqual(await folder.labels(id), []);
		}
		t.deepEqual(
			logged.map(({ msg }) => msg),
			['deleting a damaged stored snapshot'],
		);
	});
}

test('a sweep deletes only unfinished and unsealed snapshots', async (t) => {
	const path = temporary(t);
	const { folder } = openFolder(path);
	await folder.write(environment, label, bytes);
	for (const name of [`${label}.tar.gz`, `${label}.0123.tar.gz.unfinished`, 'notes.txt']) {
		writeFileSync(join(path, environment, name), 'anything');
	}
	await folder.sweep(environment);
	t.is(readdirSync(join(path, environment)).length, 2);
	t.true(readdirSync(join(path, environment)).includes('notes.txt'));
	t.deepEqual(await folder.labels(environment), [label]);
});

for (const code of ['ENOSPC', 'EACCES', 'EROFS', 'EIO']) {
	test(`${code} during a write leaves no files, does not fail requests, and is logged once`, async (t) => {
		const path = temporary(t);
		const disk = { full: true };
		const { folder, logged } = openFolder(path, {
			open: async (name, flags, mode) => {
				const file = await nodeFiles.open(name, flags, mode);
				const write = file.writeFile.bind(file);
				file.writeFile = async (data, options) => {
					await write(disk.full ? 'half' : data, options);
					if (disk.full) throw systemError(code);
				};
				return file;
			},
		});
		t.false(await folder.write(environment, label, bytes));
		t.false(await folder.write(environment, label, bytes));
		t.deepEqual(readdirSync(join(path, environment)), []);
		t.is(logged.length, 1);
		disk.full = false;
		t.true(await folder.write(environment, label, bytes));
		disk.full = true;
		t.false(await folder.write(environment, 'r13-digest.wasm', bytes));
		t.is(logged.length, 2);
		t.deepEqual(await folder.labels(environment), [label], 'earlier snapshots remain');
	});
}

test('failed operations never throw', async (t) => {
	const refuse = () => Promise.reject(systemError('EACCES'));
	const { folder, logged } = openFolder('/nowhere', {
		mkdir: refuse,
		open: refuse,
		readdir: refuse,
		readFile: refuse,
		rename: refuse,
		rm: refuse,
	});
	t.deepEqual(await folder.environments(), []);
	t.is(await folder.read(environment, label), null);
	t.false(await folder.write(environment, label, bytes));
	await folder.drop(environment, label);
	await folder.sweep(environment);
	await folder.forget(environment);
	t.is(logged.length, 1);
});
