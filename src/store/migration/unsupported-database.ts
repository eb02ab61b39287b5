/** The database has the tables of a different version. The message names the remedy. */
export class UnsupportedDatabase extends Error {
	override readonly name = 'UnsupportedDatabase';
}
