import { z } from 'zod';
import { Flag } from '../query.js';

/** What happens to an object that a document names and that exists with other content. */
export const ImportStrategy = z.enum(['fail', 'overwrite', 'replace']);
export type ImportStrategy = z.output<typeof ImportStrategy>;

/** How a document is imported. */
export const ImportQuery = z.object({
	dry_run: Flag.describe('Only tell what would change.'),
	conflict_strategy: ImportStrategy.default('fail').describe(
		'What happens to an object that exists with other content: the import fails, the object is overwritten, or ' +
			'everything that the document does not name is deleted as well (`replace`).',
	),
});
export type ImportQuery = z.output<typeof ImportQuery>;

/** The most changes that a report lists one by one. */
export const maxListedChanges = 1000;

/** What a unit of work changed, or would change. */
const reported = {
	total: z.int().min(0).describe('How many objects came, changed and went in all.'),
	counts: z
		.record(
			z.string(),
			z.object({
				create: z.int().min(0).describe('How many came.'),
				update: z.int().min(0).describe('How many changed.'),
				delete: z.int().min(0).describe('How many went.'),
			}),
		)
		.meta({ description: 'How many objects came, changed and went, by kind.' }),
	changes: z
		.array(
			z.object({
				kind: z.string().describe('What kind of object it is.'),
				operation: z.enum(['create', 'update', 'delete']).describe('What happened to the object.'),
				key: z.string().describe('The key of the object, or what else names it in the document.'),
			}),
		)
		.meta({ description: `The first ${maxListedChanges}, in the order they are made.` }),
};

/** What was changed. */
export const ChangeReport = z.object(reported).meta({ id: 'ChangeReport', description: 'What was changed.' });
export type ChangeReport = z.input<typeof ChangeReport>;

/** What an import changed, or would change. */
export const ImportReport = z
	.object({
		dry_run: z.boolean().describe('Whether nothing was written.'),
		total: reported.total,
		counts: reported.counts,
		expired: z.int().min(0).meta({ description: 'How many grants of the document have ended, and were left out.' }),
		changes: reported.changes,
	})
	.meta({ id: 'EnvironmentImportReport', description: 'What an import changed, or would change.' });
export type ImportReport = z.input<typeof ImportReport>;
