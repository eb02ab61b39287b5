import { accessSync, constants, existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from '../config.js';
import { restrictToOwner } from '../file/restrict-to-owner.js';

/** Paths in a data directory that this process uses if they exist. */
const used = {
	'server.key': 'file',
	'server.key.previous': 'file',
	postgres: 'folder',
	'postgres/PG_VERSION': 'file',
	'postgres.unfinished': 'file',
	bundles: 'folder',
	offline: 'folder',
} as const;

/**
 * Creates the data directory if needed. Checks access and contents before any other use. Removes permissions for other
 * users, which an earlier version may have granted. Throws `ConfigError` with instructions.
 */
export function prepareDataDirectory(directory: string): void {
	try {
		makeFolder(directory);
		requireUsable(directory);
		for (const [name, kind] of Object.entries(used)) {
			requireKind(join(directory, name), kind);
			restrictToOwner(join(directory, name));
		}
	} catch (error) {
		throw dataDirectoryError(directory, error);
	}
}

/**
 * Converts a system error for a path in the data directory into a `ConfigError`. Returns all other errors unchanged.
 */
export function dataDirectoryError(directory: string, error: unknown): unknown {
	const { code, path = directory } = error as NodeJS.ErrnoException;
	const problem = isSystemError(error) ? (problems[code ?? '']?.(path) ?? error.message) : null;
	if (problem === null) return error;
	return new ConfigError(`DATA_DIR: ${problem}. Set DATA_DIR to a folder that ${user()} can write to`, {
		cause: error,
	});
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
	return error instanceof Error && /^E[A-Z]+$/.test(String((error as NodeJS.ErrnoException).code));
}

/** Error messages by system error code. */
const problems: Readonly<Record<string, (path: string) => string>> = {
	EEXIST: (path) => `${path} is a file, not a folder`,
	ENOTDIR: (path) => `${path} cannot be a folder, because a part of that path is a file`,
	EACCES: refusal,
	EPERM: refusal,
	EROFS: (path) => `the file system of ${path} is read-only`,
	ENOENT: (path) => `the folder ${path} cannot be created`,
	ENAMETOOLONG: (path) => `the path ${path} is too long`,
	ELOOP: (path) => `${path} is part of a loop of symbolic links`,
};

function refusal(path: string): string {
	const owner = ownerId(path);
	const whose =
		owner === undefined || owner === process.getuid?.() ? '' : `, which belongs to the user with the id ${owner}`;
	return `${user()} may not use ${path}${whose}`;
}

function user(): string {
	const id = process.getuid?.();
	return id === undefined ? 'this user' : `this user (id ${id})`;
}

/**
 * Creates a folder with its parents. Does not use the recursive `mkdir` of Node.js, which never returns for a path
 * where the system allows no folders, such as /proc.
 */
function makeFolder(path: string): void {
	try {
		mkdirSync(path, { mode: 0o700 });
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === 'EEXIST' && statSync(path).isDirectory()) return;
		if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
		makeFolder(dirname(path));
		mkdirSync(path, { mode: 0o700 });
	}
}

/** Throws `ConfigError` if the path has the wrong kind, and the system error if this user may not access it. */
function requireKind(path: string, kind: 'file' | 'folder'): void {
	const found = statSync(path, { throwIfNoEntry: false });
	if (found === undefined) return;
	if (found.isDirectory() !== (kind === 'folder')) {
		throw new ConfigError(`DATA_DIR: ${path} is not a ${kind}. Move it away, or set DATA_DIR to a different folder`);
	}
	requireUsable(path);
}

/** Throws the system error if this user may not use the path. */
function requireUsable(path: string): void {
	const isFolder = statSync(path).isDirectory();
	accessSync(path, isFolder ? constants.R_OK | constants.W_OK | constants.X_OK : constants.R_OK | constants.W_OK);
}

function ownerId(path: string): number | undefined {
	return lstatSync(path, { throwIfNoEntry: false })?.uid;
}
