/** A policy, data or patch could not be loaded. The message names the failed step. */
export class EngineError extends Error {
	override readonly name = 'EngineError';
}

/** Wraps anything thrown in a step. Modules throw strings and traps; callers get errors. */
export function asEngineError(step: string, error: unknown): EngineError {
	if (error instanceof EngineError) return error;
	const message = error instanceof Error ? error.message : typeof error === 'string' ? error : JSON.stringify(error);
	return new EngineError(`${step} failed: ${message}`, { cause: error });
}
