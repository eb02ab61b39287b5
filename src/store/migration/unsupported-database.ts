/** The database has the tables of a different version. The message contains the remedy. */
export class UnsupportedDatabase extends Error {
	override readonly name = 'UnsupportedDatabase';
}
