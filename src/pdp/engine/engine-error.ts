/** A policy, its data or a patch could not be loaded, or an evaluation failed. */
export class EngineError extends Error {
	override readonly name = 'EngineError';
}

/** Wraps any value thrown in a step, because modules throw strings and traps. */
export function asEngineError(step: string, error: unknown): EngineError {
	if (error instanceof EngineError) return error;
	const message = error instanceof Error ? error.message : typeof error === 'string' ? error : JSON.stringify(error);
	return new EngineError(`${step} failed: ${message}`, { cause: error });
}
