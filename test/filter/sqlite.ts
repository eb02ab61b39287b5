import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** SQLite in this process, as WebAssembly: Node.js 20 has no SQLite, and native packages need an install script. */
export interface Sqlite {
	run(statement: string, parameters?: readonly unknown[]): void;
	/** Returns the first column of all rows. */
	column(statement: string, parameters?: readonly unknown[]): readonly unknown[];
}

/** The part of `sql.js` that tests use. */
interface SqlJs {
	readonly Database: new () => {
		run(statement: string, parameters?: readonly unknown[]): void;
		exec(statement: string, parameters?: readonly unknown[]): readonly { readonly values: readonly unknown[][] }[];
	};
}

/** Opens an empty database in memory. */
export async function openSqlite(): Promise<Sqlite> {
	const initialize: () => Promise<SqlJs> = requireTool('sql.js');
	const { Database } = await initialize();
	const database = new Database();
	return {
		run: (statement, parameters) => database.run(statement, parameters),
		column: (statement, parameters) =>
			database.exec(statement, parameters).flatMap(({ values }) => values.map(([one]) => one)),
	};
}

/** Loads a package from `test/filter/clients`. */
export function requireTool(name: string) {
	return toolRequire()(name);
}

/** Loads a package from `test/filter/clients` that `require` cannot load. */
export async function importTool(name: string) {
	return import(pathToFileURL(toolRequire().resolve(name)).href);
}

function toolRequire(): NodeJS.Require {
	const tools = process.env['FILTER_TOOLS'];
	if (tools === undefined) throw new Error('run this file with `npm test -- test/filter/<name>.test.ts`');
	return createRequire(join(tools, 'package.json'));
}
