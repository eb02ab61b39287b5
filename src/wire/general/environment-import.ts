import { z } from 'zod';
import { named } from '../named.js';
import { Flag } from '../query.js';

/** Strategy for an object whose content in the environment differs from the document. */
export const ImportStrategy = z.enum(['fail', 'overwrite', 'replace']);
export type ImportStrategy = z.output<typeof ImportStrategy>;

/** Import options. */
export const ImportQuery = z.object({
	dry_run: Flag.describe('Only report the changes.'),
	conflict_strategy: ImportStrategy.default('fail').describe(
		'Treatment of an object with different content in the environment: fail the import (`fail`), overwrite ' +
			'the object (`overwrite`), or also delete everything missing from the document (`replace`).',
	),
});

/** Maximum number of changes in a report. */
export const maxListedChanges = 1000;

/** Changes that a unit of work made, or would make. */
const reported = {
	total: z.int().min(0).describe('Total number of objects created, changed and deleted.'),
	counts: z
		.record(
			z.string(),
			z.object({
				create: z.int().min(0).describe('Created objects.'),
				update: z.int().min(0).describe('Changed objects.'),
				delete: z.int().min(0).describe('Deleted objects.'),
			}),
		)
		.meta({ description: 'Numbers of objects created, changed and deleted, by kind.' }),
	changes: z
		.array(
			z.object({
				kind: z.string().describe('Object kind.'),
				operation: z.enum(['create', 'update', 'delete']).describe('Operation on the object.'),
				key: z.string().describe('Object key, or a different identifier from the document.'),
			}),
		)
		.meta({ description: `The first ${maxListedChanges}, in execution order.` }),
};

export const ChangeReport = named('ChangeReport', 'Changes made.', reported);
export type ChangeReport = z.input<typeof ChangeReport>;

export const ImportReport = named('EnvironmentImportReport', 'Import changes, executed or not.', {
	dry_run: z.boolean().describe('True if nothing was written.'),
	total: reported.total,
	counts: reported.counts,
	expired: z.int().min(0).meta({ description: 'Number of expired grants in the document, which were skipped.' }),
	changes: reported.changes,
});
export type ImportReport = z.input<typeof ImportReport>;
