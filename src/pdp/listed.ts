/** What the policy's listings answer. */

import { z } from 'zod';
import { Failure } from '../failure.js';
import type { Engine } from './engine.js';

/**
 * What a listing of the policy answers, held against the schema of its answer. Throws `Failure` (`unavailable`) when it
 * is something else, and `EngineError` when the listing cannot be evaluated.
 */
export function listed<S extends z.ZodType>(engine: Engine, listing: string, input: unknown, answer: S): z.output<S> {
	const parsed = answer.safeParse(engine.evaluate(`regolith/listing/${listing}`, input));
	if (parsed.success) return parsed.data;
	throw new Failure('unavailable', `the policy gave no listing: ${z.prettifyError(parsed.error)}`);
}
