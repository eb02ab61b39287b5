import type { Schema } from '../../compiler/index.js';
import { LimitedThread } from '../limit/limited-thread.js';
import type { RegoDifference } from './rego-difference.js';

/** The schemas to compare. `after` is `null` if both are the same. */
export interface RegoQuestion {
	readonly before: Schema;
	readonly after: Schema | null;
}

/** Maximum time to compile both schemas, in milliseconds. */
const maxMilliseconds = 20_000;

const thread = new LimitedThread<RegoQuestion, RegoDifference>(new URL('./rego-difference-worker.js', import.meta.url));

/**
 * Like `regoDifference`, but in a separate thread, because the compiler takes seconds for thousands of condition sets.
 */
export async function compareRego(before: Schema, after: Schema): Promise<RegoDifference> {
	const found = await thread.ask({ before, after: after === before ? null : after }, maxMilliseconds);
	if (found !== 'late') return found;
	return { files: [], diagnostics: [], failure: `compilation takes longer than ${maxMilliseconds / 1_000} s` };
}
