import { fsyncSync } from 'node:fs';
import { OwnerOnlyFiles } from './owner-only-files.js';

/** Emscripten host file system members that sync files, absent from PGlite's types. */
interface HostFiles {
	/** Runs an operation. If it fails, converts the system error to an error number for PostgreSQL. */
	tryFSOperation<T>(operation: () => T): T;
	readonly stream_ops: { fsync?: (stream: { readonly nfd: number }) => number };
}

/** File system of an embedded database that syncs files and folders to disk. Emscripten by default ignores `fsync`. */
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
