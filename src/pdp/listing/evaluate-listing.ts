/** Answers of the policy's listings. */

import { z } from 'zod';
import { Failure } from '../../failure.js';
import type { DecidingEngine } from '../engine/engine.js';

/**
 * Evaluates a listing of the policy and checks its answer against a schema. Throws `Failure` (`unavailable`) when the
 * answer does not match, and `EngineError` when the listing cannot be evaluated.
 */
export function evaluateListing<S extends z.ZodType>(
	engine: DecidingEngine,
	listing: string,
	input: unknown,
	answer: S,
): z.output<S> {
	const parsed = answer.safeParse(engine.evaluate(`regolith/listing/${listing}`, input));
	if (parsed.success) return parsed.data;
	throw new Failure('unavailable', `the policy gave no listing: ${z.prettifyError(parsed.error)}`);
}
