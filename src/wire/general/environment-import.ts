import { z } from 'zod';
import { Flag } from '../query.js';

/** Effect for an object in the document that exists with different content. */
export const ImportStrategy = z.enum(['fail', 'overwrite', 'replace']);
export type ImportStrategy = z.output<typeof ImportStrategy>;

/** Import options. */
export const ImportQuery = z.object({
	dry_run: Flag.describe('Only report the changes.'),
	conflict_strategy: ImportStrategy.default('fail').describe(
		'Effect for an object that exists with different content: fail the import (`fail`), overwrite the ' +
			'object (`overwrite`), or also delete everything that is not in the document (`replace`).',
	),
});
export type ImportQuery = z.output<typeof ImportQuery>;

/** Maximum change count in a report. */
export const maxListedChanges = 1000;

/** Changes in a unit of work, executed or not. */
const reported = {
	total: z.int().min(0).describe('Total count of objects created, changed and deleted.'),
	counts: z
		.record(
			z.string(),
			z.object({
				create: z.int().min(0).describe('Created object count.'),
				update: z.int().min(0).describe('Changed object count.'),
				delete: z.int().min(0).describe('Deleted object count.'),
			}),
		)
		.meta({ description: 'Counts of objects created, changed and deleted, by kind.' }),
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

/** Changes made. */
export const ChangeReport = z.object(reported).meta({ id: 'ChangeReport', description: 'Changes made.' });
export type ChangeReport = z.input<typeof ChangeReport>;

/** Import changes, executed or not. */
export const ImportReport = z
	.object({
		dry_run: z.boolean().describe('True if nothing was written.'),
		total: reported.total,
		counts: reported.counts,
		expired: z.int().min(0).meta({ description: 'Expired grants in the document, which were skipped.' }),
		changes: reported.changes,
	})
	.meta({ id: 'EnvironmentImportReport', description: 'Import changes, executed or not.' });
export type ImportReport = z.input<typeof ImportReport>;
