/** `opa` did not do what it was asked. Its own words are in `stderr`; they may quote the policy, never a secret. */
export class OpaFailure extends Error {
	override readonly name = 'OpaFailure';

	constructor(
		message: string,
		/** What `opa` wrote on standard error, or on standard output where it wrote nothing there; whole. */
		readonly stderr: string,
		/** The exit code; null when `opa` could not be started or was stopped by a signal. */
		readonly exitCode: number | null,
	) {
		super(message);
	}
}

/** `opa` was ended because it took too long. */
export class OpaLate extends OpaFailure {}
