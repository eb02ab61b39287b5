import { fsyncSync } from 'node:fs';
import { OwnerOnlyFiles } from './owner-only-files.js';

/** The part of Emscripten's files of the host that syncs them; PGlite's types lack it. */
interface HostFiles {
	/** Runs an operation. Its system error becomes the error number that PostgreSQL reads. */
	tryFSOperation<T>(operation: () => T): T;
	readonly stream_ops: { fsync?: (stream: { readonly nfd: number }) => number };
}

/** The file system of an embedded database that syncs files and folders to disk. Emscripten ignores `fsync` otherwise. */
export class SyncedFiles extends OwnerOnlyFiles {
	override async init(...given: Parameters<OwnerOnlyFiles['init']>): ReturnType<OwnerOnlyFiles['init']> {
		const { emscriptenOpts } = await super.init(...given);
		const { preRun = [] } = emscriptenOpts;
		return { emscriptenOpts: { ...emscriptenOpts, preRun: [...preRun, ({ NODEFS }) => addFsync(NODEFS)] } };
	}
}

function addFsync(module: unknown): void {
	const files = module as HostFiles;
	files.stream_ops.fsync = ({ nfd }) =>
		files.tryFSOperation(() => {
			fsyncSync(nfd);
			return 0;
		});
}
