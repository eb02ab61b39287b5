import { NodeFS } from '@electric-sql/pglite/nodefs';

/** The part of Emscripten's file system that sets modes; its types are not in PGlite's. */
interface FileModes {
	chmod(path: unknown, mode: number, ...rest: readonly unknown[]): void;
}

/** The file system of an embedded database. PGlite sets the modes of its files itself, whatever the umask: to 0666. */
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
