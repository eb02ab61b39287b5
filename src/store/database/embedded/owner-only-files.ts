import { NodeFS } from '@electric-sql/pglite/nodefs';

/** Emscripten file system function that sets modes, absent from PGlite's types. */
interface FileModes {
	chmod(path: unknown, mode: number, ...rest: readonly unknown[]): void;
}

/**
 * File system of an embedded database. Only the owner can access its files. PGlite itself sets file modes to 0666,
 * regardless of the umask.
 */
export class OwnerOnlyFiles extends NodeFS {
	override async init(...given: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
		const { emscriptenOpts } = await super.init(...given);
		const { preRun = [] } = emscriptenOpts;
		return { emscriptenOpts: { ...emscriptenOpts, preRun: [...preRun, ({ FS }) => restrictModes(FS)] } };
	}
}

function restrictModes(files: FileModes): void {
	const { chmod } = files;
	files.chmod = (path, mode, ...rest) => chmod(path, mode & 0o7700, ...rest);
}
