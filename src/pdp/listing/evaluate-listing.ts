import { z } from 'zod';
import { Failure } from '../../failure.js';
import type { DecidingEngine } from '../engine/engine.js';

/**
 * Evaluates a policy listing and checks the result against a schema. Throws `Failure` (`unavailable`) if the result
 * does not match, and `EngineError` if the listing cannot be evaluated.
 */
export function evaluateListing<S extends z.ZodType>(
	engine: DecidingEngine,
	listing: string,
	input: unknown,
	answer: S,
): z.output<S> {
	const parsed = answer.safeParse(engine.evaluate(`regolith/listing/${listing}`, input));
	if (parsed.success) return parsed.data;
	throw new Failure('unavailable', `the policy returned no listing: ${z.prettifyError(parsed.error)}`);
}
