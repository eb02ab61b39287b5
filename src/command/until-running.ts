import { RefusedKeyError, type StartedPoint, untilAnswering } from '../compose/decision-point.js';
import { ExitCodeError, say } from './console.js';

/** Exit code after which a supervisor should not restart a decision point. */
const refusedKeyExitCode = 3;

/** Options for waiting until a decision point has data. */
export interface WaitOptions {
	/** True to keep waiting if the control plane rejects the key. */
	readonly wait?: boolean;
	/** Ends the wait when it aborts. */
	readonly interrupted?: AbortSignal;
}

/**
 * Waits until a decision point serves checks, and prints the reason for the wait. If the control plane rejects the key,
 * rejects with `ExitCodeError` unless `wait` is set.
 */
export async function untilRunning(
	{ started }: { readonly started: StartedPoint },
	controlPlane: string,
	{ wait = false, interrupted }: WaitOptions,
): Promise<void> {
	const tell = (reason: string) => say(`waiting for ${controlPlane}: ${reason}`);
	try {
		await untilAnswering(started, { say: tell, throughRefusal: wait, ...(interrupted && { interrupted }) });
	} catch (error) {
		if (!(error instanceof RefusedKeyError)) throw error;
		throw new ExitCodeError(
			`PDP_API_KEY: ${controlPlane} rejected the key: ${error.message}. Set PDP_API_KEY to an environment key of this API, or PDP_CONTROL_PLANE to the API of the key. With --wait, the command keeps trying`,
			refusedKeyExitCode,
		);
	}
}
