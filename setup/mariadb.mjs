import { installProgram } from './debian.mjs';

/**
 * Finds MariaDB, for tests of filters. If it is not installed, installs Debian's package, which starts no service.
 * @param {(detail: string) => void} say
 */
export function provideMariadb(say) {
	return installProgram({ names: ['mariadbd'], package: 'mariadb-server-core', variable: 'MARIADB_PATH' }, say);
}
