/** Requests of OPA's Compile API. */

import { z } from 'zod';
import { boundedArray, boundedRecord } from '../bounded.js';
import { FilterQuery } from './filter.js';

const name = z.string().max(200);
/** Column names by field; `$self` is the table name. */
const tables = boundedRecord(name, boundedRecord(name, z.string()));

export const CompileQuery = z.object({
	input: FilterQuery,
	unknowns: boundedArray(z.string(), 100).nullish(),
	options: z
		.object({
			targetSQLTableMappings: boundedRecord(name, tables).nullish(),
			targetDialects: boundedArray(z.string(), 20).nullish(),
			maskRule: z.string().nullish(),
		})
		.nullish(),
});

export type CompileQuery = z.output<typeof CompileQuery>;
