import { z } from 'zod';
import { Flag } from './query.js';

/** What happens to an object that a document names and that exists with other content. */
export const ImportStrategy = z.enum(['fail', 'overwrite', 'replace']);
export type ImportStrategy = z.output<typeof ImportStrategy>;

/** How a document is imported. */
export const ImportQuery = z.object({ dry_run: Flag, conflict_strategy: ImportStrategy.default('fail') });
export type ImportQuery = z.output<typeof ImportQuery>;

/** The most changes that a report lists one by one. */
export const maxListedChanges = 1000;

/** What an import changed, or would change. */
export const ImportReport = z
	.object({
		dry_run: z.boolean(),
		total: z.int().min(0),
		counts: z
			.record(z.string(), z.object({ create: z.int().min(0), update: z.int().min(0), delete: z.int().min(0) }))
			.meta({ description: 'How many objects came, changed and went, by kind.' }),
		expired: z.int().min(0).meta({ description: 'How many grants of the document have ended, and were left out.' }),
		changes: z
			.array(z.object({ kind: z.string(), operation: z.enum(['create', 'update', 'delete']), key: z.string() }))
			.meta({ description: `The first ${maxListedChanges}, in the order they are made.` }),
	})
	.meta({ id: 'EnvironmentImportReport' });
export type ImportReport = z.input<typeof ImportReport>;
