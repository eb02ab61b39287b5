import type { Knex } from 'knex';
import { addComputedRoles } from './add-computed-roles.js';
import { addGrantConditions } from './add-grant-conditions.js';
import { addPublicRoles } from './add-public-roles.js';
import { addRelationshipConditions } from './add-relationship-conditions.js';
import { createCheckTests } from './create-check-tests.js';
import { createFirstRelease } from './first-release/create-first-release.js';

/**
 * Every migration in order. Released migrations never change; each runs once, in a separate transaction. INVARIANT: no
 * migration has the name of a migration before the first release (`adopt-unreleased.ts`).
 */
const migrations = [
	{ name: '0001-first-release', up: createFirstRelease },
	{ name: '0002-check-tests', up: createCheckTests },
	{ name: '0003-public-roles', up: addPublicRoles },
	{ name: '0004-computed-roles', up: addComputedRoles },
	{ name: '0005-grant-conditions', up: addGrantConditions },
	{ name: '0006-relationship-conditions', up: addRelationshipConditions },
] as const;

type Migration = (typeof migrations)[number];

/** Passes migrations to knex as code, so they are typed and work from any folder. */
export const migrationSource: Knex.MigrationSource<Migration> = {
	getMigrations: async () => [...migrations],
	getMigrationName: (migration) => migration.name,
	getMigration: async (migration) => ({
		up: migration.up,
		down: async () => {
			throw new Error(`${migration.name} cannot be undone: restore a backup`);
		},
	}),
};
