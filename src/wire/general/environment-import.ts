import { z } from 'zod';
import { Flag } from '../query.js';

/** Treatment of an object in the document that exists with different content. */
export const ImportStrategy = z.enum(['fail', 'overwrite', 'replace']);
export type ImportStrategy = z.output<typeof ImportStrategy>;

/** Import options. */
export const ImportQuery = z.object({
	dry_run: Flag.describe('Only report the changes.'),
	conflict_strategy: ImportStrategy.default('fail').describe(
		'Treatment of an object that exists with different content: fail the import (`fail`), overwrite the ' +
			'object (`overwrite`), or also delete everything that is not in the document (`replace`).',
	),
});
export type ImportQuery = z.output<typeof ImportQuery>;

/** Maximum number of changes listed in a report. */
export const maxListedChanges = 1000;

/** Changes of a unit of work, executed or not. */
const reported = {
	total: z.int().min(0).describe('Total number of objects created, changed and deleted.'),
	counts: z
		.record(
			z.string(),
			z.object({
				create: z.int().min(0).describe('Number of objects created.'),
				update: z.int().min(0).describe('Number of objects changed.'),
				delete: z.int().min(0).describe('Number of objects deleted.'),
			}),
		)
		.meta({ description: 'Number of objects created, changed and deleted, by kind.' }),
	changes: z
		.array(
			z.object({
				kind: z.string().describe('Object kind.'),
				operation: z.enum(['create', 'update', 'delete']).describe('Operation on the object.'),
				key: z.string().describe('Object key, or a different identifier from the document.'),
			}),
		)
		.meta({ description: `The first ${maxListedChanges}, in order of execution.` }),
};

/** Changes made. */
export const ChangeReport = z.object(reported).meta({ id: 'ChangeReport', description: 'Changes made.' });
export type ChangeReport = z.input<typeof ChangeReport>;

/** Changes of an import, executed or not. */
export const ImportReport = z
	.object({
		dry_run: z.boolean().describe('True if nothing was written.'),
		total: reported.total,
		counts: reported.counts,
		expired: z.int().min(0).meta({ description: 'Number of expired grants in the document, which were skipped.' }),
		changes: reported.changes,
	})
	.meta({ id: 'EnvironmentImportReport', description: 'Changes of an import, executed or not.' });
export type ImportReport = z.input<typeof ImportReport>;
