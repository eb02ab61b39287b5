import type { Told } from '../declaration.js';
import type { Session } from '../session.js';
import { checkMigration, type MigrateOptions } from './migrate-check.js';

/** Reports the progress of a migration from version 1. Exit code 1 means that tasks remain. */
export async function migrateCheck(session: Session, options: Omit<MigrateOptions, 'api'>): Promise<Told> {
	const { mine, code, pdp } = options;
	const { report, left } = await checkMigration({ api: session.api, mine, code, pdp });
	return {
		text: report,
		json: { complete: left.length === 0, left },
		exit: left.length === 0 ? 0 : 1,
	};
}
