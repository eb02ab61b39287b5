/** A policy, data or patch that the engine could not load. The message says which step failed. */
export class EngineError extends Error {
	override readonly name = 'EngineError';
}

/** Wraps anything thrown at this step. Modules throw strings and traps; callers get errors. */
export function asEngineError(step: string, error: unknown): EngineError {
	if (error instanceof EngineError) return error;
	const message = error instanceof Error ? error.message : typeof error === 'string' ? error : JSON.stringify(error);
	return new EngineError(`${step} failed: ${message}`, { cause: error });
}
