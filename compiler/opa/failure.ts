/** An `opa` failure. `stderr` contains the tool's output, which may quote the policy but never a secret. */
export class OpaFailure extends Error {
	override readonly name = 'OpaFailure';

	constructor(
		message: string,
		/** Complete standard error of `opa`, or its standard output if standard error is empty. */
		readonly stderr: string,
		/** Exit code; null if `opa` could not be started or was stopped by a signal. */
		readonly exitCode: number | null,
	) {
		super(message);
	}
}

/** Thrown if `opa` was stopped because it took too long. */
export class OpaLate extends OpaFailure {}
