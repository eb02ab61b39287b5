import type { Told } from '../declaration.js';
import type { Session } from '../session.js';
import { checkMigration, type MigrateOptions } from './migrate-check.js';

/** Tells how far a migration from version 1 is. 1 says that something is left to do. */
export async function migrateCheck(session: Session, options: Omit<MigrateOptions, 'api'>): Promise<Told> {
	const { mine, code, pdp } = options;
	const { report, left } = await checkMigration({ api: session.api, mine, code, pdp });
	return {
		text: report,
		json: { complete: left.length === 0, left },
		exit: left.length === 0 ? 0 : 1,
	};
}
